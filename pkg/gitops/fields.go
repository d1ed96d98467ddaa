package gitops

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// FieldsOf gives the fields of a form's resource that rows fill in.
type FieldsOf func(hub lynq.HubKey, form lynq.FormKey, resource string) []render.FieldColumns

// Explain finds out which fields of changed objects are others than before, of
// at most so many objects: it has to read both. The columns come from the form:
// no trace of a value is kept from one run to the next.
func (r *Report) Explain(most int, fieldsOf FieldsOf) {
	for i := range r.Changes {
		n := &r.Changes[i]
		for j := range n.Objects {
			o := &n.Objects[j]
			if o.old == nil || o.new == nil || o.key.Kind == "Secret" && o.key.Group == "" {
				continue
			}
			if most == 0 {
				return
			}
			most--
			o.Fields = changedFields(o.old, o.new, fieldsOf(n.Hub, n.Form, o.ID))
		}
	}
}

// changedFields compares two documents. One that is no YAML tells nothing.
func changedFields(before, after []byte, columns []render.FieldColumns) []FieldChange {
	var a, b any
	if yaml.Unmarshal(before, &a) != nil || yaml.Unmarshal(after, &b) != nil {
		return nil
	}
	d := fieldDiff{columns: columns}
	d.compare(a, b, nil)
	return d.changes
}

// segment is a part of a path: a key, or a place in a list.
type segment struct {
	key   string
	index int
	list  bool
}

// fieldDiff walks two values side by side.
type fieldDiff struct {
	columns []render.FieldColumns
	changes []FieldChange
}

func (d *fieldDiff) compare(a, b any, path []segment) {
	if reflect.DeepEqual(a, b) {
		return
	}
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			d.maps(a, b, path)
			return
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			for i := range a {
				d.compare(a[i], b[i], append(slices.Clip(path), segment{index: i, list: true}))
			}
			return
		}
	}
	d.changes = append(d.changes, FieldChange{Field: fieldName(path), Columns: d.columnsOf(path)})
}

func (d *fieldDiff) maps(a, b map[string]any, path []segment) {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	for _, k := range sortedKeys(keys) {
		d.compare(a[k], b[k], append(slices.Clip(path), segment{key: k}))
	}
}

// columnsOf are the columns that a field, or anything below it, is made of.
func (d *fieldDiff) columnsOf(path []segment) []string {
	columns := map[string]bool{}
	for _, f := range d.columns {
		if len(f.Path) < len(path) || !slices.EqualFunc(path, f.Path[:len(path)], segment.leads) {
			continue
		}
		for _, c := range f.Columns {
			columns[c] = true
		}
	}
	return sortedKeys(columns)
}

// leads tells whether a segment is one of a form's path, where any entry of a
// list is "[]".
func (s segment) leads(key string) bool { return s.list && key == "[]" || !s.list && s.key == key }

// fieldName is spec.containers[0].image, or data["app.conf"] where a key is no
// plain word.
func fieldName(path []segment) string {
	var b strings.Builder
	for _, s := range path {
		switch {
		case s.list:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case strings.ContainsFunc(s.key, func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}):
			b.WriteString("[" + strconv.Quote(s.key) + "]")
		case b.Len() > 0:
			b.WriteString("." + s.key)
		default:
			b.WriteString(s.key)
		}
	}
	return b.String()
}
