package fields

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Foreign returns the fields of others that a write by the strategies merge or replace
// would change. Others are managers except lynq and those of the status.
//
// Under replace, the write removes fields that the manifest lacks, but not the server's
// defaults. So the result may have too many fields. With the result of a dry run instead of
// the manifest, it is exact.
func Foreign(live *unstructured.Unstructured, desired map[string]any, strategy lynq.PatchStrategy) []Conflict {
	want, err := sent(strategy, desired, live)
	if err != nil {
		// The managers aren't known, so others may own everything.
		return []Conflict{{Manager: "unknown", Field: "."}}
	}
	managed, err := Managed(live)
	if err != nil {
		return []Conflict{{Manager: "unknown", Field: "."}}
	}
	all := fieldpath.NewSet()
	for i := range managed {
		all = all.Union(managed[i].fields)
	}
	var found []Conflict
	for i := range managed {
		m := &managed[i]
		if m.manager == wellknown.FieldManager || m.subresource == "status" {
			continue
		}
		w := changes{comparer: newComparer(strategy, want), found: func(path fieldpath.Path) {
			found = append(found, Conflict{
				Manager: m.manager, Subresource: m.subresource, Field: path.String(),
				Applied: m.operation == metav1.ManagedFieldsOperationApply,
			})
		}}
		w.walk(spot{set: m.fields, all: all, want: want, live: live.Object, drops: strategy == lynq.PatchReplace})
	}
	return SortConflicts(found)
}

// changes finds the fields of one manager that a write would change.
type changes struct {
	comparer
	found func(fieldpath.Path)
}

// A spot is the current position of a walk.
type spot struct {
	set, all   *fieldpath.Set // the fields of the manager, and of all managers
	want, live any
	path       fieldpath.Path
	names      []string // the names of the fields in the path
	// drops is set if the write removes fields here that the manifest lacks.
	drops bool
}

func (w changes) walk(s spot) {
	for _, pe := range elements(s.set) {
		live, ok := at(s.live, pe)
		if !ok {
			continue // recorded once, but it no longer exists
		}
		next := spot{set: below(s.set, pe), all: below(s.all, pe), live: live, path: slices.Concat(s.path, fieldpath.Path{pe}), names: s.names, drops: s.drops}
		if pe.FieldName != nil {
			next.names = slices.Concat(s.names, []string{*pe.FieldName})
		}
		if w.serverOwned(next.names) {
			continue
		}
		var said bool
		next.want, said = saidAt(s.want, pe)
		switch {
		case !said:
			if s.drops && !empty(live) {
				w.found(next.path)
			}
		case next.set == nil && next.shared():
			// The managers of its content decide about it.
		case next.set == nil:
			if !w.same(next) {
				w.found(next.path)
			}
		default:
			_, list := next.want.([]any)
			next.drops = s.drops || list && w.mergeKey(next.names) == ""
			w.walk(next)
		}
	}
}

// shared reports whether a field has no content of its manager. Others manage the content
// of the map or list, or the map is empty.
func (s spot) shared() bool {
	live, isMap := s.live.(map[string]any)
	_, stays := s.want.(map[string]any)
	return s.all != nil || isMap && len(live) == 0 && stays
}

// saidAt works like at for a manifest, in which keys may lack their defaults.
func saidAt(v any, pe fieldpath.PathElement) (any, bool) {
	if item, ok := at(v, pe); ok {
		return item, true
	}
	list, _ := v.([]any)
	if i := slices.IndexFunc(list, func(item any) bool { return couldMean(pe, item) }); i >= 0 {
		return list[i], true
	}
	return nil, false
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// same reports whether the write keeps a field that is managed as a whole.
func (w changes) same(s spot) bool {
	if !w.within(s.names, s.want, s.live) {
		return false
	}
	_, list := s.want.([]any)
	if !s.drops && !list {
		return true
	}
	// In built-in kinds, fields that the manifest lacks are mostly defaults.
	whole := !w.builtIn || len(s.names) > 0 && (plainMap(s.names) || s.names[len(s.names)-1] == "selector")
	return !whole || w.within(s.names, s.live, s.want)
}

// keepSet adds the fields and list items of a set that the body lacks. It changes maps of
// the body, and returns a list with more items.
func keepSet(body, live any, set *fieldpath.Set) any {
	for _, pe := range elements(set) {
		from, ok := at(live, pe)
		if !ok {
			continue
		}
		into, said := saidAt(body, pe)
		m, isMap := body.(map[string]any)
		list, isList := body.([]any)
		switch part := below(set, pe); {
		case said && part != nil:
			if into = keepSet(into, from, part); isMap {
				m[*pe.FieldName] = into
			}
		case said:
		case isMap && pe.FieldName != nil:
			m[*pe.FieldName] = ownItem(from, pe, set, nil)
		case isList && pe.Index == nil:
			list = append(list, ownItem(from, pe, set, nil))
			body = list
		}
	}
	return body
}
