package render

import (
	"bytes"
	"encoding/json"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Built renders a row's only object as a line of JSON, in another way than the program:
// Built makes values, and encoding/json encodes them.
func (p *Program) Built(row lynq.Row) (string, error) {
	f := newFrame(p, &Settings{})
	f.begin(row)
	var problems lynq.Problems
	if !f.render(&problems) {
		return "", problems
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(f.build(p.resources[0].root, 0))
	return out.String(), err
}

// build builds a part of a manifest as a value.
func (f *frame) build(n *node, r int) any {
	switch {
	case n.slot != noSlot && n.text:
		return f.results.TextOf(n.slot)
	case n.slot != noSlot:
		return f.results.Typed(n.slot)
	}
	switch n.kind {
	case document.Map:
		m := make(map[string]any, len(n.fields))
		for _, field := range n.fields {
			if f.holds(field.when, r) {
				m[field.key] = f.build(field.node, r)
			}
		}
		return m
	case document.List:
		l := make([]any, len(n.items))
		for i, item := range n.items {
			l[i] = f.build(item, r)
		}
		return l
	}
	return n.fixed()
}
