package fields

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// controls reports whether a manager is one of the object's controllers. These are the
// managers that fill its fields by the table of kinds, and those that also write its status
// or its finalizers. People and deployment tools are none.
func controls(manifest map[string]any, managed []ManagedSet, m *ManagedSet) bool {
	if m.manager == wellknown.FieldManager || strings.HasPrefix(m.manager, "kubectl") || kinds.ClientSide(m.manager, false) {
		return false
	}
	u := unstructured.Unstructured{Object: manifest}
	group, _ := lynq.SplitAPIVersion(u.GetAPIVersion())
	finalizers := fieldpath.MakePathOrDie("metadata", "finalizers")
	return kinds.FilledBy(group, u.GetKind(), m.manager) || slices.ContainsFunc(managed, func(of ManagedSet) bool {
		return of.manager == m.manager && (of.subresource == "status" || has(of.fields, fieldpath.FieldNameElement("status")) || of.fields.Has(finalizers) || subset(of.fields, finalizers) != nil)
	})
}

// keepsFields reports whether a replacement keeps the fields of an entry that the manifest
// lacks. These are fields that others set through a subresource, and fields of controllers.
func keepsFields(manifest map[string]any, managed []ManagedSet, m *ManagedSet) bool {
	if m.manager == wellknown.FieldManager || m.subresource == "status" {
		return false
	}
	return m.subresource != "" || controls(manifest, managed, m)
}

// subset returns the part of a set below a path, or nil.
func subset(s *fieldpath.Set, path fieldpath.Path) *fieldpath.Set {
	for _, pe := range path {
		s = below(s, pe)
	}
	return s
}

// keepFilled copies the fields that the manifest lacks and others fill, see
// kinds.FilledFields.
func keepFilled(body, live map[string]any, managed []ManagedSet) {
	ours, all := fieldpath.NewSet(), fieldpath.NewSet()
	for i := range managed {
		all = all.Union(managed[i].fields)
		if managed[i].manager == wellknown.FieldManager {
			ours = ours.Union(managed[i].fields)
		}
	}
	filled := filledIn(body)
	for _, f := range filled {
		switch leads := func(other kinds.Filled) bool {
			return len(other.Path) > len(f.Path) && slices.Equal(other.Path[:len(f.Path)], f.Path)
		}; {
		case slices.ContainsFunc(filled, leads): // only parts of it are filled
		case f.Kept, isService(body) && f.Fixed && ofExternalName(body):
		case f.Fixed:
			keepAt(body, live, f.Path, keeping{all: all})
		case len(f.By) > 0:
			keepAt(body, live, f.Path, keeping{all: all, without: ours})
		default:
			keepAt(body, live, f.Path, keeping{all: all, without: all})
		}
	}
	if isJob(body) {
		keepTemplateLabels(body, live)
	}
}

// keeping has the managed fields at a place. without are those that aren't kept.
type keeping struct{ all, without *fieldpath.Set }

func (k keeping) below(pe fieldpath.PathElement) keeping {
	return keeping{below(k.all, pe), below(k.without, pe)}
}

// keepAt copies the field at a path if the body lacks it. It creates only the last map or
// list around it.
func keepAt(body, live any, path []string, k keeping) {
	switch live := live.(type) {
	case map[string]any:
		into, is := body.(map[string]any)
		from, there := live[path[0]]
		if !is || !there || strings.HasPrefix(path[0], "[") {
			return
		}
		pe := fieldpath.FieldNameElement(path[0])
		switch child, said := into[path[0]]; {
		case len(path) == 1 && !said:
			if !has(k.without, pe) {
				into[path[0]] = runtime.DeepCopyJSONValue(from)
			}
		case len(path) == 2 && !said && path[0] != "spec": // without a spec, it's no valid manifest
			keepNew(into, path, from, k.below(pe))
		case len(path) > 1 && listItems(path[1]):
			into[path[0]] = keepItems(child, from, path[1])
		case len(path) > 1:
			keepAt(child, from, path[1:], k.below(pe))
		}
	case []any:
		into, is := body.([]any)
		if !is || path[0] != kinds.Each {
			return
		}
		for i, j := range pair(into, live, elements(k.all)) {
			if j < 0 {
				continue
			}
			item := keeping{itemSet(k.all, live[j]), itemSet(k.without, live[j])}
			keepAt(into[i], live[j], path[1:], item)
		}
	}
}

// keepNew copies the field at the end of a path with the map or list around it.
func keepNew(into map[string]any, path []string, from any, k keeping) {
	if listItems(path[1]) {
		if items, _ := keepItems(nil, from, path[1]).([]any); len(items) > 0 {
			into[path[0]] = items
		}
		return
	}
	around := map[string]any{}
	keepAt(around, from, path[1:], k)
	if len(around) > 0 {
		into[path[0]] = around
	}
}

// keepItems adds the items of a step to a list that lacks them.
func keepItems(list, live any, step string) any {
	field, prefix, is := kinds.ItemOf(step)
	items, lists := list.([]any)
	have, _ := live.([]any)
	if !is || list != nil && !lists {
		return list
	}
	for _, item := range have {
		m, _ := item.(map[string]any)
		value, _ := m[field].(string)
		same := func(other any) bool { o, _ := other.(map[string]any); return reflect.DeepEqual(o[field], m[field]) }
		if strings.HasPrefix(value, prefix) && value != "" && !slices.ContainsFunc(items, same) {
			items = append(items, runtime.DeepCopyJSONValue(item))
		}
	}
	return items
}

// listItems reports whether a step stands for certain items of a list.
func listItems(step string) bool {
	_, _, is := kinds.ItemOf(step)
	return is
}

func isJob(m map[string]any) bool { return m["kind"] == "Job" && m["apiVersion"] == "batch/v1" }

func isService(m map[string]any) bool { return m["kind"] == "Service" && m["apiVersion"] == "v1" }

// ofExternalName reports whether a Service has no addresses.
func ofExternalName(service map[string]any) bool {
	kind, _, _ := unstructured.NestedString(service, "spec", "type")
	return kind == "ExternalName"
}
