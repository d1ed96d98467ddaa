package render

import "github.com/lynqctl/lynqctl/pkg/lynq"

// worker renders batches in its own goroutine.
type worker[T any] struct {
	frames   []*frame
	register [][]bool // for each frame and resource, whether the object might be a duplicate
	run      *hubRun[T]
	key      []byte
}

func newWorker[T any](h *hubRun[T]) *worker[T] {
	w := &worker[T]{run: h}
	for _, p := range h.Programs {
		w.frames = append(w.frames, newFrame(p, &h.settings))
		register := make([]bool, len(p.resources))
		for i := range register {
			register[i] = h.twice.object(p, i)
		}
		w.register = append(w.register, register)
	}
	return w
}

func (w *worker[T]) work(todo <-chan *batch[T]) {
	for b := range todo {
		for row := range b.rows {
			for program, f := range w.frames {
				w.node(b, row, program, f)
			}
		}
		b.done <- struct{}{} // never blocks, because the channel has room
	}
}

func (w *worker[T]) node(b *batch[T], row, program int, f *frame) {
	f.begin(b.rows[row])
	if !w.run.settings.Shard.Has(f.uid) {
		return
	}
	b.nodes = append(b.nodes, renderedNode[T]{row: row, program: program})
	n := &b.nodes[len(b.nodes)-1]
	if len(w.run.settings.Nodes) > 0 && !w.asked(f, n) {
		b.others, b.nodes = append(b.others, n.name), b.nodes[:len(b.nodes)-1]
		return
	}
	if w.run.product.named {
		n.name = f.name()
	}
	if f.render(&n.problems) {
		w.keys(b, f, w.register[program])
		n.out = w.run.product.node(&b.buffers, f, &n.tally, f.program.nodeID(w.run.Hub, f.uid, n.name))
	}
	if len(n.problems) > 0 {
		n.refs = f.refs()
	}
	n.keys, n.kept = len(b.keys), f.kept
}

// keys appends the keys of objects that might be duplicates.
func (w *worker[T]) keys(b *batch[T], f *frame, register []bool) {
	seeds := w.run.objects.seeds
	if w.run.twice.node(f) {
		w.key = f.appendNodeKey(w.key[:0])
		b.keys = append(b.keys, ownedKey{seeds.key(w.key), theNode})
	}
	for i, left := range f.left {
		if (i >= len(register) || register[i]) && !left {
			w.key = f.appendKey(w.key[:0], i)
			b.keys = append(b.keys, ownedKey{seeds.key(w.key), i})
		}
	}
}

// asked reports whether the settings select the row's node.
func (w *worker[T]) asked(f *frame, n *renderedNode[T]) bool {
	settings := &w.run.settings
	n.name = f.name()
	if other := OtherName(f.uid, f.program.Form.Name, n.name); AskedFor(settings.Nodes, other, f.program.Form.Name, w.run.forms) {
		n.other = other
	}
	return n.other != "" || settings.Nodes[n.name]
}

// product says what a run produces from nodes.
type product[T any] struct {
	named bool // the names of nodes are needed
	// node converts a rendered row. Several goroutines call it in parallel.
	node func(*buffers, *frame, *tally, lynq.NodeID) T
	// empty converts a row that doesn't count.
	empty func(p *Program, id lynq.NodeID, values []string) T
}
