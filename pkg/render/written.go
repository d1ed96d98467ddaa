package render

import (
	"context"
	"iter"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Bytes yields a hub's rows as bytes. The bytes are valid only until the next node.
func (r *Run) Bytes(ctx context.Context, in Input) iter.Seq2[Rendered[[]byte], error] {
	h := hubRun[[]byte]{r, in, product[[]byte]{
		node: func(to *buffers, f *frame, t *tally, _ lynq.NodeID) []byte {
			before := len(to.out)
			for _, i := range f.program.places {
				f.write(to, i, t)
			}
			return to.out[before:len(to.out):len(to.out)]
		},
		empty: func(*Program, lynq.NodeID, []string) []byte { return nil },
	}}
	return h.rendered(ctx)
}

// Document is a node as bytes. Its bytes and objects are valid only until the next node.
type Document struct {
	Bytes   []byte
	Objects []WrittenObject // in dependency order
	// NotIncluded are the ids of resources that the row doesn't get.
	NotIncluded []string
	Tombstones  []lynq.Tombstone // the row's tombstones
	// Inputs is the record of the row for Program.Changed.
	Inputs string
	// Match is the first rollout stage whose template matches the row, counted from 1. It
	// is 0 for none.
	Match int
}

// WrittenObject is an object in the bytes of its node.
type WrittenObject struct {
	lynq.Ref
	ID string
	// Start and End are its place in the bytes, without a line "---". They are equal if
	// the selector skips the object.
	Start, End int
	// Data is set if data is lost with the object.
	Data bool
	// Excluded is set if a rule excludes the object, so it has no bytes.
	Excluded bool
}

// Documents yields a hub's rows as bytes, with the place of each object.
func (r *Run) Documents(ctx context.Context, in Input) iter.Seq2[Rendered[Document], error] {
	h := hubRun[Document]{r, in, product[Document]{
		named: true,
		node: func(to *buffers, f *frame, t *tally, _ lynq.NodeID) Document {
			return f.document(to, t)
		},
		empty: func(*Program, lynq.NodeID, []string) Document { return Document{} },
	}}
	return h.rendered(ctx)
}

func (f *frame) document(to *buffers, t *tally) Document {
	before, first := len(to.out), len(to.objects)
	for _, i := range f.program.places {
		start := len(to.out)
		if !f.write(to, i, t) {
			continue
		}
		o := WrittenObject{Ref: f.ref(i), ID: f.program.resources[i].ID, Start: start - before, End: len(to.out) - before, Data: f.program.resources[i].Policy.Data, Excluded: f.exclusion(i) != nil}
		if o.Start < o.End {
			o.Start += len(separator)
		}
		to.objects = append(to.objects, o)
	}
	return Document{
		Bytes: to.out[before:len(to.out):len(to.out)], Objects: to.objects[first:len(to.objects):len(to.objects)],
		NotIncluded: f.notIncluded(), Tombstones: f.tombstones(), Match: f.matched, Inputs: f.inputs(),
	}
}

// write writes the object of resource i, unless a rule or the selector skips it. It
// returns false if the row doesn't get the resource.
func (f *frame) write(to *buffers, i int, t *tally) bool {
	if f.left[i] || f.program.resources[i].Policy.Hook() { // applying a hook would run it at once
		return false
	}
	if rule := f.exclusion(i); rule != nil {
		t.excluded = append(t.excluded, rule)
		return true
	}
	t.objects++
	if s := f.settings.Selector; s != nil && !s.Matches(f.labels(i)) {
		return true
	}
	if f.settings.Format == YAML {
		to.out = append(to.out, separator...)
		to.out = f.appendYAML(to.out, i)
		return true
	}
	out, err := f.line(to.out, i)
	if err != nil {
		f.fail(&t.problems, f.program.resources[i].at, "", "%v", err)
		return true
	}
	to.out = out
	return true
}

// line writes the object of resource i as a line of JSON.
func (f *frame) line(dst []byte, i int) ([]byte, error) {
	ops, err := f.program.resources[i].line()
	if err != nil {
		return nil, err
	}
	return f.appendJSON(dst, ops, i)
}

// separator goes before each YAML document.
const separator = "---\n"

// Nodes yields a hub's rows, converted by fill. Several goroutines call fill in parallel,
// with the row's values in the order of Columns. Bodies are valid only during the call. For a
// node that doesn't count, fill gets no objects.
func Nodes[T any](ctx context.Context, r *Run, in Input, fill func(n *lynq.Node, values []string) (T, error)) iter.Seq2[Rendered[T], error] {
	h := hubRun[T]{r, in, product[T]{
		named: true,
		node: func(to *buffers, f *frame, t *tally, id lynq.NodeID) T {
			n := f.program.head(id)
			before := len(to.out)
			f.fillNode(n, to, &t.problems)
			to.out = to.out[:before] // fill takes what it needs
			t.objects = len(n.Objects)
			out, err := fill(n, f.row.Values)
			if err != nil {
				f.fail(&t.problems, place{pos: f.program.Form.Pos}, "", "%v", err)
			}
			return out
		},
		empty: func(p *Program, id lynq.NodeID, values []string) T {
			out, _ := fill(p.head(id), values) // its problems, or those of an earlier node, are the result
			return out
		},
	}}
	return h.rendered(ctx)
}
