package render

import (
	"cmp"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

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
	text, err := manifest.Append(nil, n.fixed())
	l.bytes(text...)
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
	key, err := manifest.Append(nil, f.key)
	l.bytes(append(key, ':')...)
	if err != nil {
		return err
	}
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
