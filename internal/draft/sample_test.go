package draft_test

import (
	"fmt"
	"testing"

	"github.com/lynqctl/lynqctl/internal/draft"
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
			t.Errorf("%s: the sample has %d rows", name, kept)
		}
		if d, err := draft.Decide(*rows, draft.Choice{}); err != nil || !c.want(d) {
			t.Errorf("%s: got %+v, error %v", name, d, err)
		}
	}
}
