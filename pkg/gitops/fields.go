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

// FieldsOf returns the fields of a form's resource that depend on the row.
type FieldsOf func(hub lynq.HubKey, form lynq.FormKey, resource string) []render.FieldColumns

// Explain finds the changed fields of all changed objects. It takes columns from the
// form, so lynqctl stores no values of rows between runs.
func (r *Report) Explain(fieldsOf FieldsOf) {
	known := fieldsByShape{}
	for i := range r.Changes {
		n := &r.Changes[i]
		for j := range n.Objects {
			o := &n.Objects[j]
			if o.old == nil || o.new == nil || o.key.Kind == "Secret" && o.key.Group == "" {
				continue
			}
			resource := n.Hub.String() + "\n" + n.Form.String() + "\n" + o.ID
			o.Fields = known.fields(resource, o.old, o.new, func() []render.FieldColumns { return fieldsOf(n.Hub, n.Form, o.ID) })
		}
	}
}

// changedFields compares two documents. It returns nothing if it can't read one of them.
func changedFields(before, after []byte, columns []render.FieldColumns) []FieldChange {
	var a, b any
	if yaml.Unmarshal(before, &a) != nil || yaml.Unmarshal(after, &b) != nil {
		return nil
	}
	d := fieldDiff{columns: columns}
	d.compare(a, b, nil)
	return d.changes
}

// segment is a key or a list index in a path.
type segment struct {
	key   string
	index int
	list  bool
}

// fieldDiff compares two values.
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

// columnsOf returns the columns of a field and all fields below it.
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

// leads reports whether a segment matches a key of a form's path. There, "[]" matches each
// item of a list.
func (s segment) leads(key string) bool { return s.list && key == "[]" || !s.list && s.key == key }

// fieldName returns for example spec.containers[0].image, or data["app.conf"] for a key
// that isn't a plain word.
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
