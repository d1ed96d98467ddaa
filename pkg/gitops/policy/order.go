package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// Order says which resources of a form must come before which others.
type Order struct {
	Resources []*form.Resource
	// needs are the resources that each needs: those it names in dependIds, the
	// Namespace that it goes into, and the CustomResourceDefinition of its kind.
	needs [][]int
	// later are the ends of the wave before it (applyOrder), where it needs none of its
	// own wave.
	later [][]int
	// turns are those that it would need, were it not that they need it.
	turns [][]int
	// waves are those of Argo CD: each resource goes after the waves of all that it needs
	// and of all of earlier waves (applyOrder), unless the form itself gives it one of
	// Argo CD's, which owns tells.
	waves []int
	owns  []bool
	// needed: another resource needs it.
	Needed []bool
}

// OrderOf finds the order of the resources of a form.
func OrderOf(f *form.Form) *Order {
	n := len(f.Wanted())
	o := &Order{
		Resources: f.Wanted(), needs: make([][]int, n), later: make([][]int, n), turns: make([][]int, n),
		waves: make([]int, n), owns: make([]bool, n), Needed: make([]bool, n),
	}
	o.link(func(r, other *form.Resource) bool { return slices.Contains(r.DependIDs, other.ID) })
	o.link(func(r, other *form.Resource) bool {
		return !slices.Contains(r.DependIDs, other.ID) && r.StandsOn(other)
	})
	o.linkWaves()
	walked := make([]bool, n)
	for i, r := range f.Wanted() {
		_, o.owns[i] = ownAnnotation(r, argoSyncWave)
		o.walk(i, walked)
	}
	for i, r := range f.Wanted() {
		if IsClaim(r) && !o.owns[i] {
			o.join(i)
		}
	}
	return o
}

// link adds what resources need, but where that would make a circle.
func (o *Order) link(needs func(r, other *form.Resource) bool) {
	for i, r := range o.Resources {
		for j, other := range o.Resources {
			switch {
			case i == j || !needs(r, other):
			case o.reaches(j, i):
				o.turns[i] = append(o.turns[i], j)
			default:
				o.needs[i] = append(o.needs[i], j)
				o.Needed[j] = true
			}
		}
		slices.Sort(o.needs[i])
	}
}

// reaches tells whether a resource needs another, be it by way of others.
func (o *Order) reaches(from, to int) bool {
	return slices.Contains(o.needs[from], to) || slices.ContainsFunc(o.needs[from], func(i int) bool { return o.reaches(i, to) })
}

// follows tells whether a resource comes after another: it needs that, or is of a later
// wave of the form's.
func (o *Order) follows(i, j int) bool {
	return o.reaches(i, j) || slices.ContainsFunc(o.Before(i), func(k int) bool { return k == j || o.follows(k, j) })
}

// walk gives a resource its wave: the one that the form itself gives it, else
// the first after all that it needs.
func (o *Order) walk(i int, walked []bool) {
	if walked[i] {
		return
	}
	walked[i] = true
	for _, j := range o.needs[i] {
		o.walk(j, walked)
		o.waves[i] = max(o.waves[i], o.after(i, j))
	}
	for _, j := range o.later[i] {
		o.walk(j, walked)
		o.waves[i] = max(o.waves[i], o.waves[j]+1)
	}
	if own, ok := ownWave(o.Resources[i]); ok {
		o.waves[i] = own
	}
}

// after is the first wave for a resource as far as another goes that it needs. What
// uses a claim goes into the claim's wave: Argo CD makes the claim first there, and
// in a later wave would wait for a claim that may be waiting for its pods.
func (o *Order) after(i, needed int) int {
	if IsClaim(o.Resources[needed]) && argoAfterClaims(o.Resources[i].Kind) {
		return o.waves[needed]
	}
	return o.waves[needed] + 1
}

// join puts a claim into the first wave of those of its own applyOrder that need it.
func (o *Order) join(claim int) {
	first, found := 0, false
	for i := range o.Resources {
		if !o.within(i, claim) || !slices.Contains(o.needs[i], claim) {
			continue
		}
		wave := o.waves[i] - (o.after(i, claim) - o.waves[claim])
		if !found || wave < first {
			first, found = wave, true
		}
	}
	o.waves[claim] = max(o.waves[claim], first)
}

// early are the ids of what goes before a resource, and does not in Argo CD's waves.
func (o *Order) early(i int) []string {
	return o.ids(slices.DeleteFunc(o.Before(i), func(j int) bool { return o.after(i, j) <= o.waves[i] }))
}

// Before returns the resources that must come before one: those that it needs and,
// where it is one of the first of its wave, the last of the wave before.
func (o *Order) Before(i int) []int {
	all := slices.Concat(o.needs[i], o.later[i])
	slices.Sort(all)
	return slices.Compact(all)
}

// within tells whether two resources are of one wave (applyOrder).
func (o *Order) within(i, j int) bool {
	return o.Resources[i].Policy.ApplyOrder == o.Resources[j].Policy.ApplyOrder
}

// linkWaves adds what waves say: the first of each go after the last of the one before,
// and all others after those. Resources come in the order of their waves.
func (o *Order) linkWaves() {
	first, last := 0, 0 // of the wave before
	for i := range o.Resources {
		if i > 0 && !o.within(i, i-1) {
			first, last = last, i
		}
		if slices.ContainsFunc(o.needs[i], func(j int) bool { return o.within(i, j) }) {
			continue
		}
		for j := first; j < last; j++ {
			if !o.neededWithin(j) {
				o.later[i] = append(o.later[i], j)
			}
		}
	}
}

// neededWithin tells whether a resource of the same wave needs another.
func (o *Order) neededWithin(j int) bool {
	for i := range o.Resources {
		if o.within(i, j) && slices.Contains(o.needs[i], j) {
			return true
		}
	}
	return false
}

func (o *Order) ids(places []int) []string {
	ids := make([]string, len(places))
	for i, j := range places {
		ids[i] = o.Resources[j].ID
	}
	return ids
}

// ownWave is the wave that a form gives a resource itself.
func ownWave(r *form.Resource) (int, bool) {
	text, ok := ownAnnotation(r, argoSyncWave)
	if !ok {
		return 0, false
	}
	wave, err := strconv.Atoi(strings.TrimSpace(text))
	return wave, err == nil
}
