package ui

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/evidence"
)

func TestEvidenceOf(t *testing.T) {
	last := time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600))
	for _, c := range []struct {
		evidence *evidence.Evidence
		want     string
	}{
		{nil, "null"},
		{&evidence.Evidence{Now: evidence.Counts{Rows: 3, Active: 2, Inactive: 1}}, `{"now":{"rows":3,"active":2,"inactive":1},"before":{"rows":0,"active":0,"inactive":0}}`},
		{
			&evidence.Evidence{Last: last, NewColumns: []string{"a"}, GoneColumns: []string{"b"}, Rows: &evidence.Rows{
				New: 1, Vanished: 2, Deactivated: 3, Compared: 4, Changed: 5, Sampled: true,
				Columns: []evidence.Column{{Name: "plan"}, {Name: "pw", Secret: true, Emptied: 6}},
			}},
			`{"lastRun":"2026-01-02T03:04:05Z","now":{"rows":0,"active":0,"inactive":0},"before":{"rows":0,"active":0,"inactive":0},"newColumns":["a"],"goneColumns":["b"],` +
				`"rows":{"new":1,"vanished":2,"deactivated":3,"compared":4,"changed":5,"columns":[{"column":"plan","changed":0,"emptied":0},{"column":"pw","emptied":6}],"sampled":true}}`,
		},
	} {
		got, err := json.Marshal(evidenceOf(c.evidence))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
}
