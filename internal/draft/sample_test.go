package draft_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/draft"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestSample wants a sample to stay small, and to keep each row that changes the meaning of
// a column, wherever it is.
func TestSample(t *testing.T) {
	const all = 20_000
	for name, c := range map[string]struct {
		row  []string // row 15 000 of id, active, deleted_at, size
		want func(d *draft.Draft) bool
	}{
		"nothing new": {[]string{"acme", "1", "", "5"}, func(d *draft.Draft) bool {
			return d.Activate == "active" && d.Expires == "deleted_at" && d.Converted == ""
		}},
		"an invalid name":    {[]string{"Acme Inc.", "1", "", "5"}, func(d *draft.Draft) bool { return d.Converted == "Acme Inc." }},
		"an unknown word":    {[]string{"acme", "paused", "", "5"}, func(d *draft.Draft) bool { return d.Activate != "active" || len(d.Unclear) == 1 }},
		"no time":            {[]string{"acme", "1", "soon", "5"}, func(d *draft.Draft) bool { return d.Expires == "" }},
		"a secret in a cell": {[]string{"acme", "1", "", "postgres://u:p@db/x"}, func(d *draft.Draft) bool { return len(d.Secrets) == 1 && d.Secrets[0] == "size" }},
	} {
		t.Run(name, func(t *testing.T) {
			rows := &draft.Table{Columns: []draft.Column{{Name: "id", Primary: true}, {Name: "active"}, {Name: "deleted_at"}, {Name: "size"}}}
			sample := draft.NewSample(rows, []int{0, 1, 2, 3})
			for i := range all {
				if i == 15_000 {
					sample.Add(c.row)
					continue
				}
				sample.Add([]string{fmt.Sprintf("t%d", i), "1", "", fmt.Sprint(i % 7)})
			}
			if kept := len(rows.Columns[0].Values); kept > 600 {
				t.Errorf("the sample has %d rows", kept)
			}
			if d, err := draft.Decide(*rows, draft.Choice{}); err != nil || !c.want(d) {
				t.Errorf("got %+v, error %v", d, err)
			}
		})
	}
}

// TestCount counts rows as a run would: by activation, and by the time at which they end.
func TestCount(t *testing.T) {
	rows := &draft.Table{Columns: []draft.Column{{Name: "id", Primary: true}, {Name: "status"}, {Name: "deleted_at"}}}
	sample := draft.NewSample(rows, []int{0, 1, 2})
	d := &draft.Draft{UID: "id", Activate: "status", Expires: "deleted_at", Activity: lynq.Activity{Active: []string{"active"}, Inactive: []string{"closed"}}}
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status, end string
		want        draft.Rows
	}{
		{"active", "", draft.Rows{Active: 1}},
		{"active", "2026-01-03", draft.Rows{Active: 1}},
		{"active", "2026-01-02", draft.Rows{Inactive: 1}},
		{"closed", "", draft.Rows{Inactive: 1}},
		{"closed", "soon", draft.Rows{Inactive: 1}},
		{"trial", "", draft.Rows{Unclear: 1}},
		{"active", "soon", draft.Rows{Unclear: 1}},
	} {
		t.Run(c.status, func(t *testing.T) {
			var got draft.Rows
			if sample.Count(&got, d, []string{"a", c.status, c.end}, now); got != c.want {
				t.Errorf("%s, %s: %+v, want %+v", c.status, c.end, got, c.want)
			}
		})
	}
	var every draft.Rows
	if sample.Count(&every, &draft.Draft{UID: "id"}, []string{"a", "closed", "2026-01-01"}, now); every != (draft.Rows{Active: 1}) {
		t.Errorf("without columns: %+v", every)
	}
}
