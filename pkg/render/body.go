package render

import (
	"cmp"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// layouts are the ops that write a resource in all formats.
type layouts struct {
	yaml []op
	line []op // of JSON
	body []op
}

// layOut makes all layouts. Rows share them.
func (r *resource) layOut() error {
	r.yaml()
	_, err := r.body()
	_, lineErr := r.line()
	return cmp.Or(err, lineErr)
}

// yaml returns the ops that write YAML. An object of a chart belongs to one row, so it makes
// the layouts that the row needs.
func (r *resource) yaml() []op {
	if r.layouts.yaml == nil {
		var l layout
		l.mapping(r.root.fields, 0, false)
		r.layouts.yaml = l.ops
	}
	return r.layouts.yaml
}

// line returns the ops that write a line of JSON.
func (r *resource) line() ([]op, error) {
	if r.layouts.line == nil {
		var l layout
		if err := l.json(r.root); err != nil {
			return nil, err
		}
		l.string("\n")
		r.layouts.line = l.ops
	}
	return r.layouts.line, nil
}

// body returns the ops that write a body.
func (r *resource) body() ([]op, error) {
	if r.layouts.body == nil {
		var l layout
		if err := l.body(r.root.fields); err != nil {
			return nil, err
		}
		r.layouts.body = l.ops
	}
	return r.layouts.body, nil
}

// body writes the body of resource i.
func (f *frame) body(dst []byte, i int) ([]byte, error) {
	ops, err := f.program.resources[i].body()
	if err != nil {
		return nil, err
	}
	return f.appendJSON(dst, ops, i)
}

// body flattens a manifest into ops that write its body.
func (l *layout) body(fields []field) error {
	fields = sortedByKey(fields)
	metadata := slices.IndexFunc(fields, func(f field) bool { return f.key == "metadata" })
	l.string(manifest.Head[:1])
	if err := l.member(fields[metadata]); err != nil {
		return err
	}
	for _, f := range slices.Delete(fields, metadata, metadata+1) {
		l.string(",")
		if err := l.member(f); err != nil {
			return err
		}
	}
	l.string("}")
	return nil
}

// json writes a part of a body.
func (l *layout) json(n *node) error {
	switch {
	case n.slot != noSlot && n.text:
		l.ops = append(l.ops, op{kind: opQuoted, slot: n.slot})
		return nil
	case n.slot != noSlot:
		l.ops = append(l.ops, op{kind: opTyped, slot: n.slot})
		return nil
	case n.kind == document.Map:
		return l.object(sortedByKey(n.fields))
	case n.kind == document.List:
		return l.array(n.items)
	}
	b := l.fixed()
	text, err := manifest.Append(*b, n.fixed())
	if err == nil {
		*b = text
	}
	return err
}

// object writes sorted fields. If some rows don't have all of them, each one writes the comma
// before itself.
func (l *layout) object(fields []field) error {
	some := slices.ContainsFunc(fields, func(f field) bool { return f.when != always })
	l.string("{")
	for i, f := range fields {
		if !some {
			if i > 0 {
				l.string(",")
			}
			if err := l.member(f); err != nil {
				return err
			}
			continue
		}
		part := &layout{ops: []op{{kind: opComma}}}
		if err := part.member(f); err != nil {
			return err
		}
		if f.when != always {
			l.ops = append(l.ops, op{kind: opWhen, when: f.when, skip: len(part.ops)})
		}
		l.join(part)
	}
	l.string("}")
	return nil
}

func (l *layout) member(f field) error {
	b := l.fixed()
	key, err := manifest.Append(*b, f.key)
	if err != nil {
		return err
	}
	*b = key
	l.string(":")
	return l.json(f.node)
}

func (l *layout) array(items []*node) error {
	l.string("[")
	for i, item := range items {
		if i > 0 {
			l.string(",")
		}
		if err := l.json(item); err != nil {
			return err
		}
	}
	l.string("]")
	return nil
}

func sortedByKey(fields []field) []field {
	return slices.SortedFunc(slices.Values(fields), func(a, b field) int { return cmp.Compare(a.key, b.key) })
}

// appendJSON writes resource r with ops for JSON.
func (f *frame) appendJSON(dst []byte, ops []op, r int) (_ []byte, err error) {
	for i := 0; i < len(ops); i++ {
		switch o := &ops[i]; o.kind {
		case opBytes:
			dst = append(dst, o.bytes...)
		case opQuoted:
			start := len(dst)
			dst, err = manifest.EndText(f.results.Append(append(dst, '"'), o.slot), start)
		case opTyped:
			dst, err = manifest.Append(dst, f.results.Typed(o.slot))
		case opComma:
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
		case opWhen:
			if !f.holds(o.when, r) {
				i += o.skip
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return dst, nil
}
