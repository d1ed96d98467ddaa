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
type batch struct {
	rows   []lynq.Row
	values []string // the rows' values, one after the other

	out     []byte
	keys    []ownedKey
	objects []WrittenObject // for an ObjectSink
	nodes   []renderedNode
	others  []string      // the names of nodes that are not asked for
	done    chan struct{} // gets one element when out, keys, objects and nodes are complete
}

// renderedNode is one node of a batch; what is its own ends at end, keys and
// objects.
type renderedNode struct {
	row, program       int
	end, keys, objects int
	count              int // of its objects
	problems           lynq.Problems
	excluded           []*lynq.Exclusion // the rules of its objects that are not written
	made               any               // for a NodeSink
	refs               []lynq.Ref        // of a node that did not render, for a NodeSink
	tombstones         []lynq.Tombstone  // for an ObjectSink
	notIncluded        []string          // likewise
	// name is that of the node, where the sink or the settings want it, and other
	// its other name, where that was asked for.
	name, other string
	kept        bool // see Settings.Recorded
}

// pipeline carries batches from the reader to the workers, and in the order of
// the rows to the collector, and back. The number of batches is fixed: that
// bounds the memory of a run, whatever the number of rows.
type pipeline struct {
	todo, ordered, free chan *batch
}

func newPipeline(workers int) *pipeline {
	n := 2 * workers
	p := &pipeline{
		todo:    make(chan *batch, n),
		ordered: make(chan *batch, n),
		free:    make(chan *batch, n),
	}
	for range n {
		p.free <- &batch{done: make(chan struct{}, 1)}
	}
	return p
}

// next waits for a free batch.
func (p *pipeline) next(ctx context.Context) (*batch, error) {
	select {
	case b := <-p.free:
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// send hands a batch on. The channels hold all batches there are, so that it
// never blocks.
func (p *pipeline) send(b *batch) {
	p.ordered <- b
	p.todo <- b
}

func (p *pipeline) recycle(b *batch) {
	clear(b.values)
	clear(b.nodes)
	clear(b.objects)
	b.rows, b.values = b.rows[:0], b.values[:0]
	b.out, b.keys, b.objects, b.nodes, b.others = b.out[:0], b.keys[:0], b.objects[:0], b.nodes[:0], b.others[:0]
	p.free <- b
}

// add copies a row into the batch. Templates do not tell NULL from "".
func (b *batch) add(r lynq.Row, uidColumn int, uid string) {
	start := len(b.values)
	b.values = append(b.values, r.Values...)
	values := b.values[start:len(b.values):len(b.values)]
	values[uidColumn] = uid
	b.rows = append(b.rows, lynq.Row{Values: values, Line: r.Line})
}
