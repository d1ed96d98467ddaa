package render

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// hubRun renders the rows of one hub.
type hubRun[T any] struct {
	*Run
	Input
	product product[T]
}

// errStopped means that the caller takes no more nodes.
var errStopped = errors.New("stopped")

// rendered yields the hub's nodes in the order of rows and forms. It renders batches of
// rows in parallel. Its last error is a *RowsError, or one of the source or the
// context. Err has the rows that failed to render.
func (h *hubRun[T]) rendered(ctx context.Context) iter.Seq2[Rendered[T], error] {
	return func(yield func(Rendered[T], error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		most := batchRows
		if haveCharts(h.Programs) {
			most = chartRows
		}
		p := newPipeline[T](h.settings.Workers, most)
		reader := rowReader[T]{input: h.Input, pipeline: p, now: h.settings.Now, keep: h.product.named || h.Active != nil}
		var reading, working sync.WaitGroup
		reading.Go(func() {
			defer close(p.ordered)
			defer close(p.todo)
			if err := reader.read(ctx); err != nil {
				cancel(err)
			}
		})
		for range h.settings.Workers {
			working.Go(func() { newWorker(h).work(p.todo) })
		}
		for b := range p.ordered {
			select {
			case <-b.done:
			case <-ctx.Done():
				continue // a template may hang, so this worker is abandoned
			}
			if context.Cause(ctx) == nil && !h.collect(b, yield) {
				cancel(errStopped)
			}
			p.recycle(b)
		}
		reading.Wait()
		err := context.Cause(ctx)
		if err == nil {
			working.Wait()
		}
		h.report.Rows += reader.rows
		h.report.Active += reader.active
		h.report.Expired += reader.expired
		if next := reader.nextExpiry; !next.IsZero() && (h.report.NextExpiry.IsZero() || next.Before(h.report.NextExpiry)) {
			h.report.NextExpiry = next
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Rendered[T]{}, err)
		}
	}
}

// collect yields the nodes of a batch in order, until the caller stops.
func (h *hubRun[T]) collect(b *batch[T], yield func(Rendered[T], error) bool) bool {
	key := 0
	h.near.see(b.others, h.missing)
	for i := range b.nodes {
		n := &b.nodes[i]
		keys := b.keys[key:n.keys]
		key = n.keys
		if !yield(h.count(n, keys, b.rows[n.row]), nil) {
			return false
		}
	}
	return true
}

// count decides whether a node counts, and returns the yielded value.
func (h *hubRun[T]) count(n *renderedNode[T], keys []ownedKey, row lynq.Row) Rendered[T] {
	p := h.Programs[n.program]
	uid := row.Values[p.uid]
	if len(h.missing) > 0 {
		delete(h.missing, n.name)
		delete(h.missing, n.other)
	}
	known := h.objects.node(uid, p, n.kept, len(keys) > 0)
	if len(n.problems) == 0 {
		n.problems = h.unique(known, keys, p, row)
	}
	r := Rendered[T]{NodeID: p.nodeID(h.Hub, uid, n.name), Program: p, Out: n.out, Problems: n.problems, Values: row.Values}
	if known.lost {
		r.Name = naming.HashedName(uid + "/" + p.Form.Name + "/") // no other node has this name
	}
	switch {
	case len(n.problems) > 0:
		h.report.FailedNodes++
		known.failed = true
		h.failed.add(n.problems)
		if r.Refs = n.refs; r.Refs == nil {
			r.Refs = h.again(p, row).refs()
		}
		r.Out = h.product.empty(p, r.NodeID, row.Values)
	case h.report.FailedNodes > 0 && !h.settings.KeepGoing:
		r.Out = h.product.empty(p, r.NodeID, row.Values) // later nodes only serve to find problems
	default:
		h.report.Nodes++
		h.report.Objects += n.objects
		h.excluded.add(n.excluded)
		known.count = n.objects
	}
	return r
}
