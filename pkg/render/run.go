package render

import (
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Format is the output format of objects.
type Format uint8

// A run writes YAML documents, each after a line "---", or one line of JSON for each
// object.
const (
	YAML Format = iota
	JSON
)

// Settings say what a run renders and writes.
type Settings struct {
	Format Format
	// Nodes are the nodes to render, or empty for all. If a form's name has a dash, both
	// names of a node select it (see AskedFor).
	Nodes map[string]bool
	// Shard has the rows to render. The run counts other rows, but doesn't render them.
	Shard lynq.Shard
	// Recorded, if not nil, reports whether an inventory has a node's plain name, so that
	// the node keeps it. It concerns forms with a dash in their names. Several goroutines
	// call it.
	Recorded func(p *Program, plain string) bool
	// Tables have the entries of lookups in tables.
	Tables map[*form.Lookup]*form.Entries
	// Selector selects objects by their labels, unless it is nil.
	Selector labels.Selector
	// KeepGoing writes other nodes even if some fail to render.
	KeepGoing bool
	// Stream means that the caller uses each node at once, so the run retracts none.
	Stream bool
	// Now decides which rows have expired.
	Now time.Time
	// Workers is the number of rows to render in parallel. With 0, it is one per processor, or
	// chartWorkers if a form has charts.
	Workers int
}

// Input has the programs and the rows of one hub.
type Input struct {
	Hub      lynq.HubKey
	Programs []*Program // at least one, all for the same hub
	// Rows have the values of Columns in that order, and include inactive rows. Nodes are
	// written in the order of rows. A row is valid only until the next one.
	Rows iter.Seq2[lynq.Row, error]
	// Place names a row in messages by its Line.
	Place func(line int) string
	// Active and Inactive, if not nil, get each good row. The values of an active row are
	// valid only during the call.
	Active   func(uid string, values []string)
	Inactive func(uid string)
	// Renamed, if not nil, gets each active row with a previous uid.
	Renamed func(uid, previous string)
}

// Rendered is a node that a run yields for a row and a form.
type Rendered[T any] struct {
	lynq.NodeID // the name is "" if only bytes are yielded
	Program     *Program
	// Out is the caller's result for the node. It has no objects if the node has Problems.
	// The same holds if an earlier node failed and Settings.KeepGoing is false.
	Out      T
	Problems lynq.Problems
	// Refs are the objects of a node with problems. Some names may be missing.
	Refs []lynq.Ref
	// Values are the row's, in the order of Columns. They are valid only until the next
	// node.
	Values []string
}

// Report has the counts of a run.
type Report struct {
	Rows, Active   int
	Expired        int       // rows that would be active if they hadn't expired
	NextExpiry     time.Time // when the next active row expires; zero for never
	Nodes, Objects int       // nodes that count; Objects ignores the Selector
	FailedNodes    int
}

// Run renders hubs, and knows all their objects. Use it in one goroutine.
type Run struct {
	settings  Settings
	objects   registry
	twice     *collisions
	missing   map[string]bool // selected nodes that haven't appeared yet
	near      nearest         // similar names of other nodes
	forms     []string
	report    Report
	retracted []int
	excluded  excluded
	failed    RowsError
}

// NewRun starts a run with the programs of all its hubs.
func NewRun(s Settings, programs []*Program) *Run {
	if s.Workers <= 0 {
		s.Workers = runtime.GOMAXPROCS(0)
		if haveCharts(programs) {
			s.Workers *= chartWorkers
		}
	}
	s.Workers = min(s.Workers, maxWorkers)
	return &Run{settings: s, objects: newRegistry(), twice: newCollisions(programs), missing: maps.Clone(s.Nodes), near: nearest{}, excluded: excluded{}, forms: FormNames(programs)}
}

// chartWorkers is the number of workers per processor if rows wait for charts. With so many,
// neither lynqctl nor what renders the charts often sleeps.
const chartWorkers = 16

// haveCharts reports whether a form has charts.
func haveCharts(programs []*Program) bool {
	return slices.ContainsFunc(programs, func(p *Program) bool { return p != nil && len(p.charts) > 0 })
}

// maxWorkers limits the memory for rows in progress.
const maxWorkers = 256

// Tables returns the entries of lookups in tables.
func (r *Run) Tables() map[*form.Lookup]*form.Entries { return r.settings.Tables }

// Report returns the counts so far.
func (r *Run) Report() Report { return r.report }

// Missing returns the nodes of Settings.Nodes that haven't appeared so far.
func (r *Run) Missing() []string { return slices.Sorted(maps.Keys(r.missing)) }

// Near returns the node that a missing one probably means, or "".
func (r *Run) Near(missing string) string { return r.near[missing] }

// Forms returns the names of the run's forms.
func (r *Run) Forms() []string { return r.forms }

// Err returns a *RowsError if nodes failed to render, or nil.
func (r *Run) Err() error {
	if r.report.FailedNodes == 0 {
		return nil
	}
	return new(r.failed)
}

// Retracted returns the nodes that the run yielded without problems before they collided
// with a later node. It gives their indexes among all yielded nodes. They don't count.
func (r *Run) Retracted() []int { return r.retracted }

// unique registers a node and its objects. If two nodes have the same object, it reports
// both, because lynqctl can't know which one is right.
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
			problems = append(problems, lynq.Problem{
				Pos: at, Row: strings.Clone(row.Values[p.uid]), Verb: true,
				What: fmt.Sprintf("renders %s, and %s is recorded by that name", what, r.objects.describe(first, node)),
				Fix:  "give the row another uid, or its form another name",
			})
			continue
		}
		r.retract(r.objects.of(first.node), node)
		problems = append(problems, lynq.Problem{
			Pos: at, Row: strings.Clone(row.Values[p.uid]), Verb: true,
			What: fmt.Sprintf("renders %s, which %s renders too", what, r.objects.describe(first, node)),
			Fix:  "each must have a name of its own",
		})
	}
	return problems
}

// retract withdraws a node that collides with a later one.
func (r *Run) retract(first, later *nodeOwner) {
	if first != later && !first.failed && !r.settings.Stream {
		first.failed = true
		r.retracted = append(r.retracted, first.number)
		r.report.Nodes--
		r.report.FailedNodes++
		r.report.Objects -= first.count
	}
}

// resourcePlace names an object of a row, or the row's node.
func (r *Run) resourcePlace(p *Program, row lynq.Row, resource int) (lynq.Pos, string) {
	f := r.again(p, row)
	if resource == theNode || resource >= len(f.program.resources) {
		return p.Form.Pos, fmt.Sprintf("node %s/%s", p.Namespace, f.name())
	}
	res := &f.program.resources[resource]
	return res.Pos, fmt.Sprintf("%s (form %q, resource %q)", f.ref(resource), p.Form.Name, res.ID)
}

// again renders a row a second time for messages.
func (r *Run) again(p *Program, row lynq.Row) *frame {
	f := newFrame(p, &r.settings)
	f.begin(row)
	var none lynq.Problems
	f.render(&none)
	return f
}
