package render

import "github.com/lynqctl/lynqctl/pkg/lynq"

// ObjectSink is a Sink that takes nodes as bytes too, and is told where in them
// each object is; its Add is not called.
type ObjectSink interface {
	Sink
	// Write takes the next node, in order.
	Write(Written)
}

// Written is a node on its way to an ObjectSink. Its slices are used again for
// the next.
type Written struct {
	Name, Namespace string
	Program         *Program
	Failed          bool // it could not be rendered, and has neither bytes nor objects
	Bytes           []byte
	Objects         []WrittenObject // in dependency order
	// NotIncluded are the ids of resources of the form that the row does not get. They
	// are not used again, nor are Tombstones, which are those of the row.
	NotIncluded []string
	Tombstones  []lynq.Tombstone
}

// WrittenObject is an object within the bytes of its node.
type WrittenObject struct {
	lynq.Ref
	ID string
	// Start and End are its place in the bytes, without a line "---". They are
	// equal where the selector leaves the object out.
	Start, End int
	// Excluded: a rule excludes it, and it has no bytes.
	Excluded bool
}

// separator goes before each YAML document.
const separator = "---\n"

// written is resource i, which takes the bytes of its node from start to end.
func (f *frame) written(i, start, end int) WrittenObject {
	if start < end {
		start += len(separator)
	}
	return WrittenObject{Ref: f.ref(i), ID: f.program.resources[i].ID, Start: start, End: end, Excluded: f.exclusion(i) != nil}
}
