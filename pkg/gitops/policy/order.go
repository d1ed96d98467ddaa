package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// Order says which resources of a form must precede others.
type Order struct {
	Resources []*form.Resource
	// needs are the dependencies of each resource. They are its dependIds, its Namespace,
	// and the CustomResourceDefinition of its kind.
	needs [][]int
	// later are the last resources of the previous wave (applyOrder). It is empty for a
	// resource that depends on its own wave.
	later [][]int
	// turns are dependencies that would close a cycle.
	turns [][]int
	// waves are those of Argo CD. Each resource follows its dependencies and all earlier
	// waves (applyOrder). A form may set a wave of Argo CD itself, and owns marks such
	// resources.
	waves []int
	owns  []bool
	// Needed is set if another resource depends on it.
	Needed []bool
}

// OrderOf returns the order of a form's resources.
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

// link adds dependencies, except those that would close a cycle.
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

// reaches reports whether a resource depends on another directly or indirectly.
func (o *Order) reaches(from, to int) bool {
	return slices.Contains(o.needs[from], to) || slices.ContainsFunc(o.needs[from], func(i int) bool { return o.reaches(i, to) })
}

// follows reports whether a resource depends on another, or has a later wave in the form.
func (o *Order) follows(i, j int) bool {
	return o.reaches(i, j) || slices.ContainsFunc(o.Before(i), func(k int) bool { return k == j || o.follows(k, j) })
}

// walk sets a resource's wave. The form's own wave wins. Otherwise it is the first wave
// after all dependencies.
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

// after returns the first wave that a dependency allows. A user of a claim shares the
// claim's wave, because Argo CD creates the claim first there. In a later wave, it would
// wait for the claim, which may wait for its pods.
func (o *Order) after(i, needed int) int {
	if IsClaim(o.Resources[needed]) && argoAfterClaims(o.Resources[i].Kind) {
		return o.waves[needed]
	}
	return o.waves[needed] + 1
}

// join moves a claim to the first wave of its users with the same applyOrder.
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

// early returns the ids of dependencies that Argo CD's waves don't place earlier.
func (o *Order) early(i int) []string {
	return o.ids(slices.DeleteFunc(o.Before(i), func(j int) bool { return o.after(i, j) <= o.waves[i] }))
}

// Before returns the resources that must precede one. These are its dependencies. For a
// first resource of its wave, they are also the last ones of the previous wave.
func (o *Order) Before(i int) []int {
	all := slices.Concat(o.needs[i], o.later[i])
	slices.Sort(all)
	return slices.Compact(all)
}

// within reports whether two resources have the same wave (applyOrder).
func (o *Order) within(i, j int) bool {
	return o.Resources[i].Policy.ApplyOrder == o.Resources[j].Policy.ApplyOrder
}

// linkWaves adds dependencies between waves. The first resources of each wave follow the
// last ones of the previous wave, and the others follow these. Resources are in wave
// order.
func (o *Order) linkWaves() {
	first, last := 0, 0 // bounds of the previous wave
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

// neededWithin reports whether a resource of the same wave depends on this one.
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

// ownWave returns the wave of Argo CD that a form sets itself.
func ownWave(r *form.Resource) (int, bool) {
	text, ok := ownAnnotation(r, argoSyncWave)
	if !ok {
		return 0, false
	}
	wave, err := strconv.Atoi(strings.TrimSpace(text))
	return wave, err == nil
}
