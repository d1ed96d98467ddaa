package render

import (
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Format says how a run writes objects.
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
	// Shard has the rows to render. Others count, and are not rendered.
	Shard lynq.Shard
	// Recorded, where it is not nil, tells whether a node of a form with a dash in
	// its name is recorded by its plain name, and so keeps that. It is called on
	// several goroutines.
	Recorded func(p *Program, plain string) bool
	// Selector, where it is not nil, selects objects by their labels.
	Selector labels.Selector
	// KeepGoing: nodes that cannot be rendered do not keep the others from
	// being written.
	KeepGoing bool
	// Stream: a node is of use as soon as it is yielded, and none is retracted.
	Stream bool
	// Now is the time by which rows expire.
	Now time.Time
	// Workers is how many rows are rendered at once; 0 is one per processor.
	Workers int
}

// Input is the programs of one hub and its rows.
type Input struct {
	Hub      lynq.HubKey
	Programs []*Program // at least one; all of one hub
	// Rows have the values of Columns, in that order. They come in the order
	// in which their nodes are to be written, inactive ones too. The slices of
	// a row may be used again for the next.
	Rows iter.Seq2[lynq.Row, error]
	// Place names a row by its Line, for messages.
	Place func(line int) string
	// Active and Inactive, where they are not nil, are told of each good row: of an active
	// one its values, used again for the next.
	Active   func(uid string, values []string)
	Inactive func(uid string)
	// Renamed, where it is not nil, is told of each active row that had another uid before.
	Renamed func(uid, previous string)
}

// Rendered is a node that a run yields: what a row and a form make.
type Rendered[T any] struct {
	lynq.NodeID // the name is "" where bytes alone are yielded
	Program     *Program
	// Out is what became of the node. It has no objects where Problems say why the node
	// does not count, or where one before it failed and Settings.KeepGoing is not set.
	Out      T
	Problems lynq.Problems
	// Refs are the objects of a node with problems, as far as their names could be rendered.
	Refs []lynq.Ref
	// Values are the row's, in the order of Columns; used again for the next.
	Values []string
}

// Report counts what a run did.
type Report struct {
	Rows, Active   int
	Expired        int       // rows that would be active if their time was not over
	NextExpiry     time.Time // when the next active row expires, zero for never
	Nodes, Objects int       // that count; Objects before any were selected by label
	FailedNodes    int
}

// Run renders hubs, and knows all objects of all of them. It is used by one goroutine.
type Run struct {
	settings  Settings
	objects   registry
	twice     *collisions
	missing   map[string]bool // nodes of the settings that have not come up yet
	near      nearest         // what they may be meant to be
	forms     []string
	report    Report
	retracted []int
	excluded  excluded
	failures  failures
}

// NewRun begins a run of programs, those of all its hubs.
func NewRun(s Settings, programs []*Program) *Run {
	if s.Workers <= 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	s.Workers = min(s.Workers, maxWorkers)
	return &Run{settings: s, objects: newRegistry(), twice: newCollisions(programs), missing: maps.Clone(s.Nodes), near: nearest{}, excluded: excluded{}, forms: FormNames(programs)}
}

// maxWorkers bounds the memory that rows under way take.
const maxWorkers = 256

// Report counts what the run has done so far.
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

// Retracted are the nodes that were yielded without problems and collide with a later
// one, by their numbers among all that were yielded. They do not count.
func (r *Run) Retracted() []int { return r.retracted }

// unique registers a node and its objects. What another node already has is a
// problem of both: writing either would be a guess.
func (r *Run) unique(node *nodeOwner, keys []ownedKey, p *Program, row lynq.Row) lynq.Problems {
	var problems lynq.Problems
	for _, key := range keys {
		first, taken := r.objects.add(key, node)
		if !taken {
			continue
		}
		at, what := r.resourcePlace(p, row, key.resource)
		if key.resource == theNode && r.objects.of(first.node).kept {
			node.lost = true
			problems.Add(at, "give the row another uid, or its form another name",
				"row %s renders %s, and %s is recorded by that name", phrase.Quote(row.Values[p.uid]), what, r.objects.describe(first, node))
			continue
		}
		r.retract(r.objects.of(first.node), node)
		problems = append(problems, lynq.Problem{
			Pos: at,
			What: fmt.Sprintf("row %s renders %s, which %s renders too",
				phrase.Quote(row.Values[p.uid]), what, r.objects.describe(first, node)),
			Fix: "each must have a name of its own",
		})
	}
	return problems
}

// retract takes back a node that turned out to collide with a later one.
func (r *Run) retract(first, later *nodeOwner) {
	if first != later && !first.failed && !r.settings.Stream {
		first.failed = true
		r.retracted = append(r.retracted, first.number)
		r.report.Nodes--
		r.report.FailedNodes++
		r.report.Objects -= first.count
	}
}

// resourcePlace names an object of a row, or its node.
func (r *Run) resourcePlace(p *Program, row lynq.Row, resource int) (lynq.Pos, string) {
	f := r.again(p, row)
	if resource == theNode {
		return p.Form.Pos, fmt.Sprintf("node %s/%s", p.Namespace, f.name())
	}
	res := &p.resources[resource]
	return res.Pos, fmt.Sprintf("%s (form %q, resource %q)", f.ref(resource), p.Form.Name, res.ID)
}

// again renders a row that has been rendered, for messages.
func (r *Run) again(p *Program, row lynq.Row) *frame {
	f := newFrame(p, &r.settings)
	f.begin(row)
	var none lynq.Problems
	f.render(&none)
	return f
}
