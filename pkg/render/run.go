package render

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Format is how objects are written.
type Format uint8

// The formats of a stream of objects: YAML documents, each after a line "---",
// or one line of JSON per object.
const (
	YAML Format = iota
	JSON
)

// Settings say what a run writes.
type Settings struct {
	Format Format
	// Nodes, where it is not empty, names the nodes to render. Of a form with a
	// dash in its name, both names of a node find it (see AskedFor).
	Nodes map[string]bool
	// Recorded, where it is not nil, tells whether a node of a form with a dash in
	// its name is recorded by its plain name, and so keeps that. It is called on
	// several goroutines.
	Recorded func(p *Program, plain string) bool
	// Selector, where it is not nil, selects objects by their labels.
	Selector labels.Selector
	// KeepGoing: nodes that cannot be rendered do not keep the others from
	// being written.
	KeepGoing bool
	// Workers is how many rows are rendered at once; 0 is one per processor.
	Workers int
}

// Input is the programs of one hub and its rows.
type Input struct {
	Programs []*Program // at least one; all of one hub
	// Rows have the values of Columns, in that order. They come in the order
	// in which their nodes are to be written, inactive ones too. The slices of
	// a row may be used again for the next.
	Rows iter.Seq2[lynq.Row, error]
	// Place names a row by its Line, for messages.
	Place func(line int) string
}

// Sink takes what a run renders, node by node, in order.
type Sink interface {
	// Add takes the bytes of the next node.
	Add(node []byte) error
	// Drop takes the i-th added node back. False means that it is too late.
	Drop(i int) bool
}

// NodeSink is a Sink that takes nodes as objects; its Add is not called.
type NodeSink interface {
	Sink
	// Make gives what is to be kept of a node. It is called on the goroutines
	// that render, several at once.
	Make(n *lynq.Node) (any, error)
	// Keep takes the next node, in order.
	Keep(Kept) error
}

// Kept is a node on its way to a NodeSink.
type Kept struct {
	Name, Namespace string
	UID             string // of the row
	Program         *Program
	// Made is what Make gave, nil where the row could not be rendered. Then Refs are
	// its objects, as far as their names could be.
	Made any
	Refs []lynq.Ref
	// Problems are why the node does not count, though it may have been made:
	// another one renders an object of it too.
	Problems lynq.Problems
	// Values are the row's, in the order of Columns; used again for the next.
	Values []string
}

// Report counts what a run did.
type Report struct {
	Rows, Active   int
	Nodes, Objects int // given to the sink; Objects before any were selected by label
	FailedNodes    int
}

// Run renders hubs into a sink, and knows all objects of all of them. It is
// used by one goroutine.
type Run struct {
	settings Settings
	sink     Sink
	nodes    NodeSink   // the sink, where it wants objects
	written  ObjectSink // the sink, where it wants to know where objects are
	objects  registry
	twice    *collisions
	missing  map[string]bool // nodes of the settings that have not come up yet
	near     nearest         // what they may be meant to be
	forms    []string
	report   Report
	excluded excluded
	failures failures
}

// NewRun begins a run of programs, those of all its hubs.
func NewRun(s Settings, sink Sink, programs []*Program) *Run {
	if s.Workers <= 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	s.Workers = min(s.Workers, maxWorkers)
	nodes, _ := sink.(NodeSink)
	written, _ := sink.(ObjectSink)
	return &Run{settings: s, sink: sink, nodes: nodes, written: written, objects: newRegistry(), twice: newCollisions(programs), missing: maps.Clone(s.Nodes), near: nearest{}, excluded: excluded{}, forms: FormNames(programs)}
}

// maxWorkers bounds the memory that rows under way take.
const maxWorkers = 256

// Report is what was done so far.
func (r *Run) Report() Report { return r.report }

// Missing are the nodes of Settings.Nodes that no row and form has made so far.
func (r *Run) Missing() []string { return slices.Sorted(maps.Keys(r.missing)) }

// Near is the node that was probably meant by one that is missing, "" for none.
func (r *Run) Near(missing string) string { return r.near[missing] }

// Forms are the names of the forms of the run.
func (r *Run) Forms() []string { return r.forms }

// Err is a *FailedRowsError where nodes could not be rendered, else nil.
func (r *Run) Err() error {
	if r.report.FailedNodes == 0 {
		return nil
	}
	return &FailedRowsError{Problems: r.failures.problems, More: r.failures.more, Nodes: r.report.FailedNodes}
}

// SinkError is an error of the sink: the output failed, not the rows.
type SinkError struct{ Err error }

func (e *SinkError) Error() string { return e.Err.Error() }

// Unwrap is the sink's own error.
func (e *SinkError) Unwrap() error { return e.Err }

// Hub renders the rows of one hub. Its error is a *BadRowsError, a *SinkError,
// the source's, or the context's. Rows that cannot be rendered are no error here:
// see Err.
func (r *Run) Hub(ctx context.Context, in Input) error {
	ctx, cancel := context.WithCancelCause(ctx)
	p := newPipeline(r.settings.Workers)
	reader := rowReader{input: in, pipeline: p}
	var reading, working sync.WaitGroup
	reading.Go(func() {
		defer close(p.ordered)
		defer close(p.todo)
		if err := reader.read(ctx); err != nil {
			cancel(err)
		}
	})
	for range r.settings.Workers {
		working.Go(func() { newWorker(in, r).work(p.todo) })
	}
	for b := range p.ordered {
		select {
		case <-b.done:
		case <-ctx.Done():
			continue // a template may take for ever; its worker is left behind
		}
		if context.Cause(ctx) == nil {
			if err := r.collect(b, in.Programs); err != nil {
				cancel(err)
			}
		}
		p.recycle(b)
	}
	reading.Wait()
	err := context.Cause(ctx)
	if err == nil {
		working.Wait()
	}
	cancel(nil)
	r.report.Rows += reader.rows
	r.report.Active += reader.active
	return err
}

// collect takes the results of a batch over, in order.
func (r *Run) collect(b *batch, programs []*Program) error {
	start, key, object := 0, 0, 0
	r.near.see(b.others, r.missing)
	for i := range b.nodes {
		n := &b.nodes[i]
		doc, keys, objects := b.out[start:n.end], b.keys[key:n.keys], b.objects[object:n.objects]
		start, key, object = n.end, n.keys, n.objects
		program, row := programs[n.program], b.rows[n.row]
		problems := n.problems
		if len(r.missing) > 0 {
			delete(r.missing, n.name)
			delete(r.missing, n.other)
		}
		id := r.objects.node(row.Values[program.uid], program, n.kept)
		if len(problems) == 0 {
			problems = r.unique(id, keys, program, row)
		}
		switch {
		case len(problems) > 0:
			r.report.FailedNodes++
			r.objects.nodes[id].failed = true
			r.failures.add(problems)
			doc, objects, n.tombstones = nil, nil, nil
		case r.report.FailedNodes > 0 && !r.settings.KeepGoing:
			doc, objects, n.tombstones = nil, nil, nil // nothing is written any more; the rest runs for its problems
		default:
			r.report.Nodes++
			r.report.Objects += n.count
			r.excluded.add(n.excluded)
			r.objects.nodes[id].count = n.count
		}
		if r.objects.nodes[id].lost {
			n.name = lynq.HashedName(row.Values[program.uid] + "/" + program.Form.Name + "/") // which is no other node's
		}
		if err := r.hand(n, Written{Bytes: doc, Objects: objects, Tombstones: n.tombstones, NotIncluded: n.notIncluded}, row, program, problems); err != nil {
			return &SinkError{err}
		}
	}
	return nil
}

// hand gives a node to the sink.
func (r *Run) hand(n *renderedNode, w Written, row lynq.Row, p *Program, problems lynq.Problems) error {
	if r.nodes == nil && r.written == nil {
		return r.sink.Add(w.Bytes)
	}
	uid := row.Values[p.uid]
	if r.written != nil {
		w.Name, w.Namespace, w.Program, w.Failed = n.name, p.Namespace, p, len(problems) > 0
		r.written.Write(w)
		return nil
	}
	return r.nodes.Keep(Kept{
		Name: n.name, Namespace: p.Namespace, UID: uid, Program: p, Problems: problems, Values: row.Values, Made: n.made, Refs: n.refs,
	})
}

// unique registers a node and its objects. What another node already has is a
// problem of both: writing either would be a guess.
func (r *Run) unique(id int, keys []ownedKey, p *Program, row lynq.Row) lynq.Problems {
	var problems lynq.Problems
	for _, key := range keys {
		first, taken := r.objects.add(key, id)
		if !taken {
			continue
		}
		at, what := r.resourcePlace(p, row, key.resource)
		if key.resource == theNode && r.objects.nodes[first.node].kept {
			r.objects.nodes[id].lost = true
			problems.Add(at, "give the row another uid, or its form another name",
				"row %s renders %s, and %s is recorded by that name", lynq.Quote(row.Values[p.uid]), what, r.objects.describe(first, id))
			continue
		}
		r.retract(int(first.node), id)
		problems = append(problems, lynq.Problem{
			Pos: at,
			What: fmt.Sprintf("row %s renders %s, which %s renders too",
				lynq.Quote(row.Values[p.uid]), what, r.objects.describe(first, id)),
			Fix: "each must have a name of its own",
		})
	}
	return problems
}

// retract takes back a node that turned out to collide with a later one.
func (r *Run) retract(node, later int) {
	first := &r.objects.nodes[node]
	if node != later && !first.failed && r.sink.Drop(node) {
		first.failed = true
		r.report.Nodes--
		r.report.FailedNodes++
		r.report.Objects -= first.count
	}
}

// resourcePlace names an object of a row, or its node.
func (r *Run) resourcePlace(p *Program, row lynq.Row, resource int) (lynq.Pos, string) {
	f := newFrame(p, &r.settings)
	f.begin(row)
	var none lynq.Problems
	f.render(&none)
	if resource == theNode {
		return p.Form.Pos, fmt.Sprintf("node %s/%s", p.Namespace, f.name())
	}
	res := &p.resources[resource]
	return res.Pos, fmt.Sprintf("%s (form %q, resource %q)", f.ref(resource), p.Form.Name, res.ID)
}

// worker renders batches on a goroutine of its own.
type worker struct {
	frames   []*frame
	register [][]bool // per frame and resource: the object could be there twice
	settings *Settings
	forms    []string
	nodes    NodeSink
	placed   bool // the sink wants to know where objects are
	seeds    hashSeeds
	twice    *collisions
	key      []byte
}

func newWorker(in Input, r *Run) *worker {
	w := &worker{settings: &r.settings, forms: r.forms, nodes: r.nodes, placed: r.written != nil, seeds: r.objects.seeds, twice: r.twice}
	for _, p := range in.Programs {
		w.frames = append(w.frames, newFrame(p, w.settings))
		register := make([]bool, len(p.resources))
		for i := range register {
			register[i] = r.twice.object(p, i)
		}
		w.register = append(w.register, register)
	}
	return w
}

func (w *worker) work(todo <-chan *batch) {
	for b := range todo {
		for row := range b.rows {
			for program, f := range w.frames {
				w.node(b, row, program, f)
			}
		}
		b.done <- struct{}{} // there is room for it
	}
}

func (w *worker) node(b *batch, row, program int, f *frame) {
	f.begin(b.rows[row])
	n := renderedNode{row: row, program: program}
	if len(w.settings.Nodes) > 0 && !w.asked(f, &n) {
		b.others = append(b.others, n.name)
		return
	}
	before := len(b.out)
	if f.render(&n.problems) {
		if w.twice.node(f) {
			w.key = f.appendNodeKey(w.key[:0])
			b.keys = append(b.keys, ownedKey{w.seeds.key(w.key), theNode})
		}
		for i := range f.program.resources {
			if f.left[i] {
				continue
			}
			if w.register[program][i] {
				w.key = f.appendKey(w.key[:0], i)
				b.keys = append(b.keys, ownedKey{w.seeds.key(w.key), i})
			}
			if f.program.resources[i].Policy.Hook() {
				continue // who applied it would run it at once
			}
			if w.nodes != nil {
				n.count++
				continue
			}
			start := len(b.out)
			if rule := f.exclusion(i); rule != nil {
				n.excluded = append(n.excluded, rule)
			} else {
				n.count++
				w.object(b, f, i, &n.problems)
			}
			if w.placed {
				b.objects = append(b.objects, f.written(i, start-before, len(b.out)-before))
			}
		}
		w.make(f, &n)
	}
	if w.nodes != nil && len(n.problems) > 0 {
		n.refs = f.refs()
	}
	if w.nodes != nil || w.placed {
		n.name = f.name()
	}
	if w.placed && len(n.problems) == 0 {
		n.tombstones, n.notIncluded = f.tombstones(), f.notIncluded()
	}
	n.end, n.keys, n.objects, n.kept = len(b.out), len(b.keys), len(b.objects), f.kept
	b.nodes = append(b.nodes, n)
}

// asked tells whether the row's node is one of those to render.
func (w *worker) asked(f *frame, n *renderedNode) bool {
	n.name = f.name()
	if other := OtherName(f.uid, f.program.Form.Name, n.name); AskedFor(w.settings.Nodes, other, f.program.Form.Name, w.forms) {
		n.other = other
	}
	return n.other != "" || w.settings.Nodes[n.name]
}

// make gives the node to a sink that wants objects.
func (w *worker) make(f *frame, n *renderedNode) {
	if w.nodes == nil || len(n.problems) > 0 {
		return
	}
	made, err := w.nodes.Make(f.node())
	if err != nil {
		f.fail(&n.problems, place{pos: f.program.Form.Pos}, "", "%v", err)
	}
	n.made = made
}

// object writes one object behind the others of the batch.
func (w *worker) object(b *batch, f *frame, i int, problems *lynq.Problems) {
	if w.settings.Selector != nil && !w.settings.Selector.Matches(f.labels(i)) {
		return
	}
	if w.settings.Format == YAML {
		b.out = append(b.out, separator...)
		b.out = f.appendYAML(b.out, i)
		return
	}
	buf := appender{b.out}
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(f.object(i).Content); err != nil {
		f.fail(problems, f.program.resources[i].at, "", "%v", err)
	}
	b.out = buf.b
}

// appender is an io.Writer that appends.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}
