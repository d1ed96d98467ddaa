package render

import (
	"context"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// batchSize is how many rows go from goroutine to goroutine at a time: enough
// to make the handing over cheap, few enough to keep the output of a batch
// within a processor's cache.
const batchSize = 16

// batch is some rows on their way, and what became of them.
type batch[T any] struct {
	rows   []lynq.Row
	values []string // the rows' values, one after the other

	buffers
	keys   []ownedKey
	nodes  []renderedNode[T]
	others []string      // the names of nodes that are not asked for
	done   chan struct{} // gets one element when nodes, keys and others are complete
}

// buffers are what nodes are written into, one behind the other.
type buffers struct {
	out     []byte
	objects []WrittenObject
}

// renderedNode is one node of a batch; its keys end at keys.
type renderedNode[T any] struct {
	row, program int
	keys         int
	tally
	out  T
	refs []lynq.Ref // of a node with problems
	// name is that of the node, where it is asked for, and other its other name, where
	// the settings ask for that.
	name, other string
	kept        bool // see Settings.Recorded
}

// tally is what is counted of a node.
type tally struct {
	objects  int
	excluded []*lynq.Exclusion // the rules of its objects that are not written
	problems lynq.Problems
}

// pipeline carries batches from the reader to the workers, and in the order of
// the rows to the collector, and back. The number of batches is fixed: that
// bounds the memory of a run, whatever the number of rows.
type pipeline[T any] struct {
	todo, ordered, free chan *batch[T]
}

func newPipeline[T any](workers int) *pipeline[T] {
	n := 2 * workers
	p := &pipeline[T]{
		todo:    make(chan *batch[T], n),
		ordered: make(chan *batch[T], n),
		free:    make(chan *batch[T], n),
	}
	for range n {
		p.free <- &batch[T]{done: make(chan struct{}, 1)}
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

// send hands a batch on. The channels hold all batches there are, so that it
// never blocks.
func (p *pipeline[T]) send(b *batch[T]) {
	p.ordered <- b
	p.todo <- b
}

func (p *pipeline[T]) recycle(b *batch[T]) {
	clear(b.values)
	clear(b.nodes)
	clear(b.objects)
	b.rows, b.values = b.rows[:0], b.values[:0]
	b.out, b.keys, b.objects, b.nodes, b.others = b.out[:0], b.keys[:0], b.objects[:0], b.nodes[:0], b.others[:0]
	p.free <- b
}

// add copies a row into the batch. Templates do not tell NULL from "".
func (b *batch[T]) add(r lynq.Row, uidColumn int, uid string) {
	start := len(b.values)
	b.values = append(b.values, r.Values...)
	values := b.values[start:len(b.values):len(b.values)]
	values[uidColumn] = uid
	b.rows = append(b.rows, lynq.Row{Values: values, Line: r.Line})
}
