package gitops

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// order is what must go before what among the resources of a form.
type order struct {
	resources []*form.Resource
	// needs are the resources that each needs: those it names in dependIds, the
	// Namespace that it goes into, and the CustomResourceDefinition of its kind.
	needs [][]int
	// turns are those that it would need, were it not that they need it.
	turns [][]int
	// waves: each resource goes after the waves of all that it needs, unless the
	// form itself gives it a wave, which owns tells.
	waves []int
	owns  []bool
	// needed: another resource needs it.
	needed []bool
}

func orderOf(f *form.Form) *order {
	n := len(f.Resources)
	o := &order{
		resources: f.Resources, needs: make([][]int, n), turns: make([][]int, n),
		waves: make([]int, n), owns: make([]bool, n), needed: make([]bool, n),
	}
	o.link(func(r, other *form.Resource) bool { return slices.Contains(r.DependIDs, other.ID) })
	o.link(func(r, other *form.Resource) bool {
		return !slices.Contains(r.DependIDs, other.ID) && standsOn(r, other)
	})
	walked := make([]bool, n)
	for i, r := range f.Resources {
		_, o.owns[i] = ownAnnotation(r, argoSyncWave)
		o.walk(i, walked)
	}
	for i, r := range f.Resources {
		if isClaim(r) && !o.owns[i] {
			o.join(i)
		}
	}
	return o
}

// link adds what resources need, but where that would make a circle.
func (o *order) link(needs func(r, other *form.Resource) bool) {
	for i, r := range o.resources {
		for j, other := range o.resources {
			switch {
			case i == j || !needs(r, other):
			case o.reaches(j, i):
				o.turns[i] = append(o.turns[i], j)
			default:
				o.needs[i] = append(o.needs[i], j)
				o.needed[j] = true
			}
		}
		slices.Sort(o.needs[i])
	}
}

// reaches tells whether a resource needs another, be it by way of others.
func (o *order) reaches(from, to int) bool {
	return slices.Contains(o.needs[from], to) || slices.ContainsFunc(o.needs[from], func(i int) bool { return o.reaches(i, to) })
}

// walk gives a resource its wave: the one that the form itself gives it, else
// the first after all that it needs.
func (o *order) walk(i int, walked []bool) {
	if walked[i] {
		return
	}
	walked[i] = true
	for _, j := range o.needs[i] {
		o.walk(j, walked)
		o.waves[i] = max(o.waves[i], o.after(i, j))
	}
	if own, ok := ownWave(o.resources[i]); ok {
		o.waves[i] = own
	}
}

// after is the first wave for a resource as far as another goes that it needs. What
// uses a claim goes into the claim's wave: Argo CD makes the claim first there, and
// in a later wave would wait for a claim that may be waiting for its pods.
func (o *order) after(i, needed int) int {
	if isClaim(o.resources[needed]) && argoAfterClaims(o.resources[i].Kind) {
		return o.waves[needed]
	}
	return o.waves[needed] + 1
}

// join puts a claim into the first wave of those that need it.
func (o *order) join(claim int) {
	first, found := 0, false
	for i := range o.resources {
		if !slices.Contains(o.needs[i], claim) {
			continue
		}
		wave := o.waves[i] - (o.after(i, claim) - o.waves[claim])
		if !found || wave < first {
			first, found = wave, true
		}
	}
	o.waves[claim] = max(o.waves[claim], first)
}

// early are the ids of what a resource needs that does not go before it.
func (o *order) early(i int) []string {
	return o.ids(slices.DeleteFunc(slices.Clone(o.needs[i]), func(j int) bool { return o.after(i, j) <= o.waves[i] }))
}

func (o *order) ids(places []int) []string {
	ids := make([]string, len(places))
	for i, j := range places {
		ids[i] = o.resources[j].ID
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

// standsOn tells whether a resource cannot be applied before another although it
// does not say so: that is its Namespace, or the definition of its kind.
func standsOn(r, other *form.Resource) bool {
	switch {
	case isNamespace(other):
		namespace := textOf(r.TargetNamespace.Text, r.Manifest.Field("metadata").Field("namespace"))
		return namespace != "" && namespace == textOf(other.NameTemplate.Text, other.Manifest.Field("metadata").Field("name"))
	case isDefinition(other):
		group, _ := lynq.SplitAPIVersion(r.APIVersion)
		spec := other.Manifest.Field("spec")
		return r.Kind == textOf("", spec.Field("names").Field("kind")) && group == textOf("", spec.Field("group"))
	}
	return false
}

// textOf is a text of the form, else that of a value. Templates are compared as
// they are: the same template is the same text for every row.
func textOf(text string, v *form.Value) string {
	if text == "" && v != nil {
		text = v.Str
	}
	return strings.TrimSpace(text)
}

func isNamespace(r *form.Resource) bool { return r.APIVersion == "v1" && r.Kind == "Namespace" }

func isDefinition(r *form.Resource) bool {
	group, _ := lynq.SplitAPIVersion(r.APIVersion)
	return group == "apiextensions.k8s.io" && r.Kind == "CustomResourceDefinition"
}
