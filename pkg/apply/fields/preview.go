package fields

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Preview returns a live object as it would be after a write of a manifest, without asking
// the server. It lacks new defaults and the effects of admission. With removes, the write
// also removes the fields that only lynq manages and that the manifest lacks.
func Preview(manifest map[string]any, live *unstructured.Unstructured, removes bool) (map[string]any, error) {
	next := any(runtime.DeepCopyJSON(live.Object))
	want := FoldSecret(runtime.DeepCopyJSON(manifest))
	if removes {
		managed, err := Managed(live)
		if err != nil {
			return nil, err
		}
		next = dropped(next, want, of(managed, true), of(managed, false))
	}
	object, _ := newComparer(lynq.PatchMerge, want).laid(nil, want, next).(map[string]any)
	return object, nil
}

// dropped removes what only we manage in a value, and want lacks.
func dropped(v, want any, ours, others *fieldpath.Set) any {
	for _, pe := range elements(ours) {
		item, there := at(v, pe)
		into, said := saidAt(want, pe)
		switch {
		case !there:
		case said || has(others, pe):
			if below(ours, pe) != nil {
				v = put(v, pe, dropped(item, into, below(ours, pe), below(others, pe)))
			}
		default:
			v = cutOut(v, pe)
		}
	}
	return v
}

// put sets the part of a value at a path element that it has.
func put(v any, pe fieldpath.PathElement, item any) any {
	switch v := v.(type) {
	case map[string]any:
		v[*pe.FieldName] = item
	case []any:
		v[find(v, pe)] = item
	}
	return v
}

// cutOut removes the part of a value at a path element that it has.
func cutOut(v any, pe fieldpath.PathElement) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, *pe.FieldName)
	case []any:
		i := find(v, pe)
		return slices.Delete(v, i, i+1)
	}
	return v
}

// laid lays a manifest's value over a live one. The live one stays where it has all of the
// manifest's, because the server writes some values in another way.
func (c comparer) laid(path []string, want, live any) any {
	switch want := want.(type) {
	case map[string]any:
		have, is := live.(map[string]any)
		if !is {
			return want
		}
		for name, v := range want {
			child := slices.Concat(path, []string{name})
			from, there := have[name]
			switch {
			case c.serverOwned(child) || there && c.within(child, v, from) || !there && c.like(child, v):
			case v == nil:
				delete(have, name)
			case there:
				have[name] = c.laid(child, v, from)
			default:
				have[name] = v
			}
		}
		return have
	case []any:
		have, is := live.([]any)
		if key := c.mergeKey(path); is && key != "" && !repeats(key, want) && !repeats(key, have) {
			return c.laidItems(path, key, want, have)
		}
	}
	return want
}

// laidItems lays list items over the live items with the same keys. New ones come last.
func (c comparer) laidItems(path []string, key string, want, live []any) []any {
	for _, item := range want {
		if i := findBy(key, live, item); i >= 0 {
			live[i] = c.laid(path, item, live[i])
		} else {
			live = append(live, item)
		}
	}
	return live
}
