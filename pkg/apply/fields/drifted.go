package fields

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Undrifted returns a manifest without the fields that other clients set to another value.
// It doesn't change the manifest.
func Undrifted(manifest map[string]any, live *unstructured.Unstructured) (map[string]any, error) {
	managed, err := Managed(live)
	if err != nil {
		return nil, err
	}
	manifest = runtime.DeepCopyJSON(manifest)
	c := newComparer(lynq.PatchApply, manifest)
	undrift(c, manifest, live.Object, of(managed, true), of(managed, false), nil)
	return manifest, nil
}

// of returns all fields that lynq manages, or all of others.
func of(managed []ManagedSet, ours bool) *fieldpath.Set {
	set := fieldpath.NewSet()
	for i := range managed {
		if m := &managed[i]; (m.manager == wellknown.FieldManager) == ours {
			set = set.Union(m.fields)
		}
	}
	return set
}

// undrift removes from maps the fields that only others manage, and that have another
// value.
func undrift(c comparer, want, live any, ours, others *fieldpath.Set, names []string) {
	for _, pe := range elements(others) {
		from, there := at(live, pe)
		into, said := saidAt(want, pe)
		if !there || !said {
			continue
		}
		path := names
		if pe.FieldName != nil {
			path = slices.Concat(names, []string{*pe.FieldName})
		}
		m, isMap := want.(map[string]any)
		switch {
		case below(others, pe) != nil:
			undrift(c, into, from, below(ours, pe), below(others, pe), path)
		case isMap && !has(ours, pe) && !c.within(path, into, from):
			delete(m, *pe.FieldName)
		}
	}
}

// A Difference is a field of a manifest for which the live object has another value.
type Difference struct {
	Path       string
	Want, Live any
	// Others is set if only other clients manage the field, or nobody. Managers are these.
	Others   bool
	Managers []string
}

// Differences returns the fields of a manifest that a live object has with another value.
func Differences(manifest map[string]any, live *unstructured.Unstructured) ([]Difference, error) {
	managed, err := Managed(live)
	if err != nil {
		return nil, err
	}
	d := differences{comparer: newComparer(lynq.PatchApply, manifest), managed: managed, ours: of(managed, true)}
	d.walk(FoldSecret(runtime.DeepCopyJSON(manifest)), live.Object, d.ours, of(managed, false), nil, nil)
	slices.SortFunc(d.found, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(d.found, func(a, b Difference) bool { return a.Path == b.Path }), nil
}

type differences struct {
	comparer
	managed []ManagedSet
	ours    *fieldpath.Set
	found   []Difference
}

// walk compares maps field by field, and lists with keys item by item.
func (d *differences) walk(want, live any, ours, others *fieldpath.Set, path fieldpath.Path, names []string) {
	m, isMap := want.(map[string]any)
	if !isMap {
		return
	}
	have, _ := live.(map[string]any)
	for name, v := range m {
		pe := fieldpath.FieldNameElement(name)
		at, child := slices.Concat(path, fieldpath.Path{pe}), slices.Concat(names, []string{name})
		from, there := have[name]
		if d.serverOwned(child) || len(child) == 1 && name == "metadata" || !there || d.within(child, v, from) {
			continue
		}
		_, deeper := v.(map[string]any)
		if _, both := from.(map[string]any); deeper && both && (below(ours, pe) != nil || below(others, pe) != nil) {
			d.walk(v, from, below(ours, pe), below(others, pe), at, child)
			continue
		}
		if d.items(v, from, below(ours, pe), below(others, pe), at, child) {
			continue
		}
		d.found = append(d.found, Difference{Path: at.String(), Want: v, Live: from, Others: !has(ours, pe), Managers: d.managersOf(at)})
	}
}

// items compares the items of two lists with keys. It returns false for other lists.
func (d *differences) items(want, live any, ours, others *fieldpath.Set, path fieldpath.Path, names []string) bool {
	list, is := want.([]any)
	if _, both := live.([]any); !is || !both {
		return false
	}
	keyed := false
	for _, pe := range append(elements(ours), elements(others)...) {
		from, there := at(live, pe)
		into, said := saidAt(list, pe)
		if pe.Key == nil || !there || !said {
			continue
		}
		keyed = true
		d.walk(into, from, below(ours, pe), below(others, pe), slices.Concat(path, fieldpath.Path{pe}), names)
	}
	return keyed
}

// managersOf returns the other managers of a field, without duplicates.
func (d *differences) managersOf(path fieldpath.Path) []string {
	var names []string
	for i := range d.managed {
		m := &d.managed[i]
		if m.manager != wellknown.FieldManager && !slices.Contains(names, m.manager) && (m.fields.Has(path) || subset(m.fields, path) != nil) {
			names = append(names, m.manager)
		}
	}
	return names
}
