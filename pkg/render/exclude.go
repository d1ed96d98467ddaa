package render

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// exclusion returns the rule that excludes an object of the row, or nil.
func (f *frame) exclusion(i int) *lynq.Exclusion {
	if len(f.program.Exclude) == 0 {
		return nil
	}
	return f.program.Exclude.Find(f.ref(i))
}

// Excluded counts the objects that a rule excluded from a run.
type Excluded struct {
	lynq.Exclusion
	Objects int
}

// excluded counts objects by rule.
type excluded map[lynq.Exclusion]int

func (e excluded) add(rules []*lynq.Exclusion) {
	for _, rule := range rules {
		e[*rule]++
	}
}

// Excluded returns the rules that excluded objects, in the order of their places. Nodes
// yields excluded objects too, with their rules.
func (r *Run) Excluded() []Excluded {
	var all []Excluded
	for rule, objects := range maps.All(r.excluded) {
		all = append(all, Excluded{rule, objects})
	}
	slices.SortFunc(all, func(a, b Excluded) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.String(), b.String()))
	})
	return all
}
