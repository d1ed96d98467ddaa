package render

import (
	"strconv"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// node is a compiled part of a manifest. Static values are bytes, and templates are slots
// of the frame.
type node struct {
	kind   document.Kind // kind of a static value, a List or a Map
	value  *document.Value
	static []byte // the text of a static string
	slot   int    // index of the expression; noSlot for static values
	text   bool   // a typed result stays a string, because Kubernetes requires one
	fields []field
	items  []*node
}

const noSlot = -1

// field is a key of a mapping. Some of lynqctl's own keys depend on the row.
type field struct {
	key  string
	when condition
	node *node
}

// condition says which rows have a field.
type condition uint8

const (
	always  condition = iota
	foreign           // the object is outside its node's namespace
	madeUID           // no label can have the row's uid as its value
	altered           // variable substitution of the target would change the object
)

func staticText(s string) *node {
	return &node{kind: document.String, value: &document.Value{Kind: document.String, Str: s}, static: []byte(s), slot: noSlot}
}

// opKind is the action of an op. Some are only for YAML, and some only for bodies.
type opKind uint8

const (
	opBytes  opKind = iota // write bytes
	opText                 // write a slot as a YAML string
	opRaw                  // write a slot, a number or boolean, as it is
	opWhen                 // skip the next ops unless the condition holds
	opQuoted               // write a slot as a JSON string
	opTyped                // write a slot, a number or boolean, as JSON
	opComma                // write a comma, except at the beginning of a JSON object
)

type op struct {
	kind   opKind
	bytes  []byte
	slot   int
	indent int
	when   condition
	skip   int
}

// layout flattens a manifest into ops. They write static bytes, and between them the
// slots.
type layout struct{ ops []op }

// fixed returns the bytes at the end, for more of them. They are valid until the next op.
func (l *layout) fixed() *[]byte {
	if last := len(l.ops) - 1; last < 0 || l.ops[last].kind != opBytes {
		l.ops = append(l.ops, op{kind: opBytes})
	}
	return &l.ops[len(l.ops)-1].bytes
}

func (l *layout) string(s string) {
	b := l.fixed()
	*b = append(*b, s...)
}

func (l *layout) spaces(n int) {
	b := l.fixed()
	*b = scalar.AppendSpaces(*b, n)
}

// join appends ops that others may skip. The bytes after them stay apart.
func (l *layout) join(other *layout) { l.ops = append(append(l.ops, other.ops...), op{kind: opBytes}) }

// mapping writes the fields of a non-empty map. If inline is set, the map is a list item
// and its first line is already indented.
func (l *layout) mapping(fields []field, indent int, inline bool) {
	for i, f := range fields {
		var skipped *layout
		target := l
		if f.when != always {
			skipped = &layout{}
			target = skipped
		}
		if i > 0 || !inline {
			target.spaces(indent)
		}
		b := target.fixed()
		*b = append(scalar.AppendKey(*b, f.key), ':')
		target.value(f.node, indent, false)
		if skipped != nil {
			l.ops = append(l.ops, op{kind: opWhen, when: f.when, skip: len(skipped.ops)})
			l.join(skipped)
		}
	}
}

// value writes the rest of a line after "key:" or "-". Like kubectl, it indents lists as
// deep as their key.
func (l *layout) value(n *node, indent int, entry bool) {
	switch {
	case n.kind == document.Map && len(n.fields) > 0:
		if entry {
			l.string(" ")
		} else {
			l.string("\n")
		}
		l.mapping(n.fields, indent+2, entry)
	case n.kind == document.List && len(n.items) > 0:
		if entry {
			l.string(" ")
			l.list(n.items, indent+2, true)
		} else {
			l.string("\n")
			l.list(n.items, indent, false)
		}
	default:
		l.string(" ")
		l.scalar(n, indent)
		l.string("\n")
	}
}

func (l *layout) list(items []*node, indent int, inline bool) {
	for i, item := range items {
		if i > 0 || !inline {
			l.spaces(indent)
		}
		l.string("-")
		l.value(item, indent, true)
	}
}

func (l *layout) scalar(n *node, indent int) {
	if n.slot != noSlot {
		kind := opText
		if !n.text {
			kind = opRaw
		}
		l.ops = append(l.ops, op{kind: kind, slot: n.slot, indent: indent})
		return
	}
	b := l.fixed()
	switch v := n.value; n.kind {
	case document.Map:
		*b = append(*b, "{}"...)
	case document.List:
		*b = append(*b, "[]"...)
	case document.Null:
		*b = append(*b, "null"...)
	case document.Bool:
		*b = strconv.AppendBool(*b, v.Bool)
	case document.Int:
		*b = strconv.AppendInt(*b, v.Int, 10)
	case document.Float:
		*b = scalar.AppendFloat(*b, v.Float)
	default:
		*b = scalar.Append(*b, v.Str, scalar.StyleOf(v.Str), indent)
	}
}
