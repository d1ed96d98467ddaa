package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// TestChanged compares records of rows: those of one form, and those of a form that reads
// other columns. Tags may be equal.
func TestChanged(t *testing.T) {
	sizes := &form.Lookup{Name: "sizes", Column: "size"}
	p := &Program{columns: []string{"id", "plan", "size", "tier"}, inputs: []input{
		{name: "plan", tag: 'p'}, {name: "size", tag: 's'}, {name: "tier", tag: 'p'}, {name: "sizes.cpu", lookup: sizes, tag: 'c'}, {name: "sizes.mem", lookup: sizes, tag: 'm'},
	}}
	for name, tt := range map[string]struct {
		before, now string
		want        map[string]bool
	}{
		"nothing":        {"p1s1p1c1m1", "p1s1p1c1m1", map[string]bool{"plan": false, "size": false, "tier": false, "lookup sizes": false}},
		"a column":       {"p1s1p1c1m1", "p1s1p2c1m1", map[string]bool{"plan": false, "size": false, "tier": true, "lookup sizes": false}},
		"an entry":       {"p1s1p1c1m1", "p1s1p1c2m1", map[string]bool{"plan": false, "size": false, "tier": false, "lookup sizes": true}},
		"another entry":  {"p1s1p1c1m1", "p1s2p1c2m1", map[string]bool{"plan": false, "size": true, "tier": false}},
		"no record":      {"", "p1s1p1c1m1", map[string]bool{}},
		"fewer columns":  {"s1c1", "p1s2p1c1m1", map[string]bool{"size": true}},
		"more columns":   {"p1s1p1c1m1x1", "p1s1p1c1m2", map[string]bool{"size": false, "lookup sizes": true}},
		"a cut record":   {"p1s", "p1s1p1c1m1", map[string]bool{}},
		"no row in time": {"p1s1p1c1m1", "", map[string]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.want["id"] = false // another uid makes another node
			digests := strings.NewReplacer("1", "01", "2", "02")
			if diff := cmp.Diff(tt.want, p.Changed(digests.Replace(tt.before), digests.Replace(tt.now))); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
}
