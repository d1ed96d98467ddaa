package render

import (
	"context"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// The bounds of a batch, which moves between goroutines as one: enough rows to make that
// cheap, and few enough bytes for a processor's cache and for the memory of a run whose rows
// or objects are large.
const (
	batchRows   = 128
	firstRows   = 16 // before anyone knows how much rows make
	chartRows   = 16 // of forms with charts, which have more workers
	batchInput  = 64 << 10
	batchOutput = 512 << 10
)

// batch has some rows and their results.
type batch[T any] struct {
	rows   []lynq.Row
	values []string // the values of all rows, joined
	size   int      // of the values, in bytes
	most   int      // rows that it takes

	buffers
	keys   []ownedKey
	nodes  []renderedNode[T]
	others []string      // names of nodes that the user didn't select
	done   chan struct{} // gets one element when nodes, keys and others are complete
}

// buffers collect the bytes of nodes.
type buffers struct {
	out     []byte
	objects []WrittenObject
}

// renderedNode is one node of a batch. Its keys end at keys.
type renderedNode[T any] struct {
	row, program int
	keys         int
	tally
	out  T
	refs []lynq.Ref // objects of a node with problems
	// name is the name of a selected node. other is its other name if the settings need
	// it.
	name, other string
	kept        bool // see Settings.Recorded
}

// tally has the counts of a node.
type tally struct {
	objects  int
	excluded []*lynq.Exclusion // the rules that exclude its objects
	problems lynq.Problems
}

// pipeline moves batches from the reader to the workers, then in row order to the
// collector, and back. The number of batches is fixed. So the memory of a run doesn't
// depend on the number of rows.
type pipeline[T any] struct {
	todo, ordered, free chan *batch[T]
	most                int // rows in a batch
}

func newPipeline[T any](workers, most int) *pipeline[T] {
	n := 2 * workers
	p := &pipeline[T]{
		most:    most,
		todo:    make(chan *batch[T], n),
		ordered: make(chan *batch[T], n),
		free:    make(chan *batch[T], n),
	}
	for range n {
		p.free <- &batch[T]{done: make(chan struct{}, 1), most: firstRows}
	}
	return p
}

// next waits for a free batch.
func (p *pipeline[T]) next(ctx context.Context) (*batch[T], error) {
	select {
	case b := <-p.free:
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// send passes a batch on. It never blocks, because each channel has room for all batches.
func (p *pipeline[T]) send(b *batch[T]) {
	p.ordered <- b
	p.todo <- b
}

func (p *pipeline[T]) recycle(b *batch[T]) {
	b.most = min(p.most, max(1, len(b.rows)*batchOutput/max(1, len(b.out))))
	b.size = 0
	clear(b.values)
	clear(b.nodes)
	clear(b.objects)
	b.rows, b.values = b.rows[:0], b.values[:0]
	b.out, b.keys, b.objects, b.nodes, b.others = b.out[:0], b.keys[:0], b.objects[:0], b.nodes[:0], b.others[:0]
	p.free <- b
}

// add copies a row into the batch. Templates read NULL as "".
func (b *batch[T]) add(r lynq.Row, uidColumn int, uid string) {
	start := len(b.values)
	b.values = append(b.values, r.Values...)
	values := b.values[start:len(b.values):len(b.values)]
	values[uidColumn] = uid
	for _, v := range values {
		b.size += len(v)
	}
	b.rows = append(b.rows, lynq.Row{Values: values, Line: r.Line})
}

// full reports whether the batch takes no more rows.
func (b *batch[T]) full() bool { return len(b.rows) >= b.most || b.size >= batchInput }
