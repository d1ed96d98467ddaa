package diff

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Manager is a manager of a field, from the object's managedFields.
type Manager struct {
	Name        string `json:"name"`
	Subresource string `json:"subresource,omitempty"`
	// Time is the time when it last changed any of its fields, "" if unknown.
	Time string `json:"time,omitempty"`
}

// managed is one entry of managedFields.
type managed struct {
	Manager
	fields map[string]any
}

// managersOf reads managedFields, without those of the status. An entry that can't be read manages
// nothing, because only causes depend on it.
func managersOf(live map[string]any) []managed {
	metadata, _ := live["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	var all []managed
	for _, item := range entries {
		e, _ := item.(map[string]any)
		m := managed{}
		m.Name, _ = e["manager"].(string)
		m.Subresource, _ = e["subresource"].(string)
		m.Time, _ = e["time"].(string)
		m.fields, _ = e["fieldsV1"].(map[string]any)
		if m.fields != nil && m.Subresource != "status" {
			all = append(all, m)
		}
	}
	return all
}

// managing returns the managers of a field or a part of it, and whether lynqctl is one of them. A
// manager of the whole that has the field counts only if no manager has the field itself.
func managing(all []managed, live map[string]any, path Path) (others []Manager, ours bool) {
	best := notManaged
	for i := range all {
		how := all[i].has(live, path)
		if how == notManaged || how < best {
			continue
		}
		if how > best {
			best, others, ours = how, nil, false
		}
		if all[i].Name == wellknown.FieldManager {
			ours = true
		} else {
			others = append(others, all[i].Manager)
		}
	}
	// A person asks the last writer.
	slices.SortStableFunc(others, func(a, b Manager) int { return strings.Compare(b.Time, a.Time) })
	return others, ours
}

// holding is how an entry manages a field.
type holding uint8

const (
	notManaged holding = iota
	withWhole          // as a part of a whole
	byItself
)

// has returns how an entry manages a field, or a part of it. For an element without parts, nobody
// knows whether it is managed as a whole or alone.
func (m *managed) has(live any, path Path) holding {
	set := m.fields
	for i, e := range path {
		item, ok := e.in(live)
		if !ok {
			return notManaged
		}
		child, ok := e.below(set, item)
		switch {
		case ok:
			set, live = child, item
		case i > 0 && whole(set):
			return withWhole
		default:
			return notManaged
		}
	}
	return byItself
}

func whole(set map[string]any) bool {
	_, itself := set["."]
	return len(set) == 0 || itself && len(set) == 1
}

// below returns the part of a set for an element. Keys, values or places name entries of lists.
func (e Element) below(set map[string]any, item any) (map[string]any, bool) {
	if !e.Entry {
		child, ok := set["f:"+e.Field].(map[string]any)
		return child, ok
	}
	for key, v := range set {
		kind, text, _ := strings.Cut(key, ":")
		var named any
		if json.Unmarshal([]byte(text), &named) != nil {
			continue
		}
		child, ok := v.(map[string]any)
		if ok && means(kind, named, item, e.Index) {
			return child, true
		}
	}
	return nil, false
}

func means(kind string, named, item any, index int) bool {
	switch kind {
	case "k":
		keys, _ := named.(map[string]any)
		m, _ := item.(map[string]any)
		for key, v := range keys {
			if !same(v, m[key]) {
				return false
			}
		}
		return len(keys) > 0
	case "v":
		return same(named, item)
	case "i":
		return same(named, int64(index))
	}
	return false
}
