package render

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/form/document"
)

// FieldColumns names the columns and lookups that fill a field of an object.
type FieldColumns struct {
	// Path has the keys that lead to the field. "[]" is any item of a list.
	Path    []string
	Columns []string // sorted
	// Secret is set if one of them is a secret column of the hub.
	Secret bool
}

// Fields returns the fields of a resource that depend on the row, in output order.
func (p *Program) Fields(id string) []FieldColumns {
	i := slices.IndexFunc(p.resources, func(r resource) bool { return r.ID == id })
	if c := p.chartOf(id); i < 0 && c != nil {
		return p.chartFields(c)
	}
	if i < 0 {
		return nil
	}
	w := columnWalk{program: p}
	w.node(p.resources[i].root, nil)
	return w.fields
}

// columnWalk visits a manifest.
type columnWalk struct {
	program *Program
	fields  []FieldColumns
}

func (w *columnWalk) node(n *node, path []string) {
	switch {
	case n.slot != noSlot:
		w.slot(n.slot, path)
	case n.kind == document.Map:
		for _, f := range n.fields {
			w.node(f.node, append(slices.Clip(path), f.key))
		}
	case n.kind == document.List:
		for _, item := range n.items {
			w.node(item, append(slices.Clip(path), "[]"))
		}
	}
}

func (w *columnWalk) slot(slot int, path []string) {
	var columns []string
	secret := false
	for _, c := range w.program.exprs.Columns(slot) {
		columns = append(columns, w.program.origins(c)...)
		secret = secret || w.program.secret(c)
	}
	if len(columns) == 0 {
		return
	}
	slices.Sort(columns)
	w.fields = append(w.fields, FieldColumns{Path: path, Columns: slices.Compact(columns), Secret: secret})
}

// Used returns the columns that the form uses, each once.
func (p *Program) Used() []string {
	var used []string
	for i := range p.uses {
		for _, c := range p.exprs.Columns(i) {
			used = append(used, p.origins(c)[0])
		}
	}
	slices.Sort(used)
	return slices.Compact(used)
}
