package fields

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Yield returns a manifest without empty values where others fill the field. null gives way
// to every other manager, and any other empty value to the object's controllers. With carry,
// it has the live values there instead. It doesn't change the manifest.
func Yield(manifest map[string]any, live *unstructured.Unstructured, carry bool) (map[string]any, error) {
	managed, err := Managed(live)
	if err != nil {
		return nil, err
	}
	y := yielding{carry: carry, others: of(managed, false), controllers: fieldpath.NewSet()}
	for i := range managed {
		if controls(manifest, managed, &managed[i]) {
			y.controllers = y.controllers.Union(managed[i].fields)
		}
	}
	manifest = runtime.DeepCopyJSON(manifest)
	y.walk(manifest, live.Object, y.others, y.controllers)
	return manifest, nil
}

type yielding struct {
	carry               bool
	others, controllers *fieldpath.Set
}

func (y yielding) walk(want, live any, others, controllers *fieldpath.Set) {
	switch want := want.(type) {
	case map[string]any:
		have, _ := live.(map[string]any)
		for name, v := range want {
			pe := fieldpath.FieldNameElement(name)
			from, there := have[name]
			switch {
			case !there || empty(from) || from == "":
			case v == nil && has(others, pe), (empty(v) || v == "") && has(controllers, pe) && (y.carry || takes(v, controllers, pe)):
				if delete(want, name); y.carry {
					want[name] = runtime.DeepCopyJSONValue(from)
				}
			default:
				y.walk(v, from, below(others, pe), below(controllers, pe))
			}
		}
	case []any:
		for _, pe := range elements(others) {
			from, there := at(live, pe)
			if i := slices.IndexFunc(want, func(item any) bool { return couldMean(pe, item) }); there && i >= 0 {
				y.walk(want[i], from, below(others, pe), below(controllers, pe))
			}
		}
	}
}

// takes reports whether an empty value would take a field from its managers. An empty map
// beside fields of theirs doesn't. To leave it out would even remove these, if lynq applied
// the map.
func takes(v any, managers *fieldpath.Set, pe fieldpath.PathElement) bool {
	_, isMap := v.(map[string]any)
	return !isMap || below(managers, pe) == nil
}

// Nulls removes the nulls of a manifest, and returns the fields that they remove from the
// live object although lynq doesn't apply them. It changes the manifest itself. Call Yield
// before.
func Nulls(manifest map[string]any, live *unstructured.Unstructured) (*fieldpath.Set, error) {
	managed, err := Managed(live)
	if err != nil {
		return nil, err
	}
	applied, all := fieldpath.NewSet(), fieldpath.NewSet()
	for i := range managed {
		all = all.Union(managed[i].fields)
		if managed[i].applied() {
			applied = managed[i].fields
		}
	}
	set := fieldpath.NewSet()
	nulls(manifest, live.Object, spot{all: all}, func(p fieldpath.Path) {
		if !applied.Has(p) {
			set.Insert(p)
		}
	})
	DropNulls(manifest)
	return set, nil
}

// nulls finds the fields of a live object that a manifest sets to null.
func nulls(want, live any, s spot, found func(fieldpath.Path)) {
	switch want := want.(type) {
	case map[string]any:
		have, _ := live.(map[string]any)
		for name, v := range want {
			from, there := have[name]
			switch place := s.field(name); {
			case !there || from == nil:
			case v == nil:
				found(place.path)
			default:
				nulls(v, from, place, found)
			}
		}
	case []any:
		have, _ := live.([]any)
		for i, j := range pair(want, have, elements(s.all)) {
			if j >= 0 {
				nulls(want[i], have[j], s.item(have[j]), found)
			}
		}
	}
}

// NullAt reports whether a manifest has null at one of a server's paths.
func NullAt(manifest map[string]any, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return nullAt(manifest, fieldsOfPath(path)) })
}

func nullAt(v any, steps []string) bool {
	if len(steps) == 0 {
		return v == nil
	}
	switch v := v.(type) {
	case map[string]any:
		child, said := v[steps[0]]
		return said && nullAt(child, steps[1:])
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return nullAt(item, steps[1:]) })
	}
	return false
}

// Claim returns a patch after which lynq applies more fields of a live object. The next
// apply then removes those that it lacks. It is nil if there is nothing to add.
func Claim(live *unstructured.Unstructured, more *fieldpath.Set) ([]byte, error) {
	more = known(more)
	if more.Empty() {
		return nil, nil
	}
	entries, err := Entries(live)
	if err != nil {
		return nil, err
	}
	version := appliedVersion(entries)
	if version == "" {
		version = live.GetAPIVersion()
	}
	ours := metav1.ManagedFieldsEntry{Manager: wellknown.FieldManager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: version}
	entries, err = addFields(entries, ours, more)
	if err != nil {
		return nil, err
	}
	return ManagersPatch(live, entries)
}

// known returns a set without items of lists for which managers have no name.
func known(set *fieldpath.Set) *fieldpath.Set {
	out := fieldpath.NewSet()
	set.Iterate(func(p fieldpath.Path) {
		if !slices.ContainsFunc(p, func(pe fieldpath.PathElement) bool { return pe.Equals(fieldpath.PathElement{}) }) {
			out.Insert(p.Copy())
		}
	})
	return out
}
