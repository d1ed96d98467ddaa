package diffcmd

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/internal/gitlog"
	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/edits"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// diffRun runs plans without writing, and collects the results. It is the run's
// apply.Cluster, apply.Inventories and report.Reporter. It refuses every real write.
type diffRun struct {
	apply.Cluster
	programs map[schedule.Form]*render.Program
	// secretHubs are the hubs that have secret columns.
	secretHubs map[lynq.HubKey]bool
	// secretValues are those of the run.
	secretValues *redact.Filter
	hubs         map[lynq.HubKey]*inventory.Hub
	// unchanged names the columns in which a row has the values of the last run.
	unchanged map[lynq.HubKey]func(uid string) []string
	version   string // the version of lynqctl
	edits     *edits.Finder
	// keepSides keeps both sides of each object for an external diff program.
	keepSides bool
	// plans has the nodes that were planned without an error.
	plans map[lynq.NodeKey]*plan.NodePlan
	// ending has objects that apply creates again once their deletion ends. Until then, the
	// server can't try them.
	ending map[stepKey]plan.Step

	// allowed asks whether the user has a permission.
	allowed func(ctx context.Context, verb, group, resource, namespace, name string) (bool, error)

	mu sync.Mutex
	// compared are the kinds that the user may not write, so that the server tried none of
	// them.
	compared map[string]bool
	// sides has the tried objects, and ended the last event of each object. The run keeps
	// both until it has compared the object's node.
	sides map[lynq.Ref]sides
	ended map[stepKey]report.Event
	nodes map[*plan.NodePlan]*diff.Node
	err   error // the first error
}

// sides are the live object and the one after apply. nil means that the object doesn't
// exist.
type sides struct{ live, next map[string]any }

type stepKey struct {
	node   lynq.NodeKey
	object lynq.Ref
}

var (
	_ apply.Cluster     = (*diffRun)(nil)
	_ apply.Inventories = (*diffRun)(nil)
	_ report.Reporter   = (*diffRun)(nil)

	errDiffRun = errors.New("internal error: diff tried to write to the cluster (report this bug)")
)

// newDiffRun returns a run for the hubs of a job, which knows no plan yet.
func newDiffRun(ctx context.Context, s *applycmd.Seen, keepSides bool) *diffRun {
	log := gitlog.New(time.Now)
	t := &diffRun{
		Cluster: s.Client, allowed: s.Client.Allowed, compared: map[string]bool{}, programs: programsOf(s.Hubs), secretHubs: secretHubsOf(s.Hubs), secretValues: s.Engine.Secrets, hubs: s.Records, unchanged: map[lynq.HubKey]func(string) []string{}, version: s.Engine.Version, keepSides: keepSides,
		edits: &edits.Finder{Versions: func(file string) []edits.Version { return log.Versions(ctx, file) }, Hide: s.Engine.Secrets.Hide},
		plans: map[lynq.NodeKey]*plan.NodePlan{}, ending: map[stepKey]plan.Step{},
		sides: map[lynq.Ref]sides{}, ended: map[stepKey]report.Event{}, nodes: map[*plan.NodePlan]*diff.Node{},
	}
	for _, h := range s.Hubs {
		t.unchanged[h.Key] = s.UnchangedColumns(h)
	}
	return t
}

// try carries out plans as a trial.
func try(ctx context.Context, p *applycmd.Planned, keepSides bool) (*diffRun, error) {
	t := newDiffRun(ctx, p.Seen, keepSides)
	for i := range p.Plans {
		for k := range p.Plans[i].Nodes {
			n := &p.Plans[i].Nodes[k]
			n.After = nil // a trial doesn't depend on objects of other nodes
			if n.Desired == nil || n.Desired.Failed == nil {
				t.plans[n.Key()] = n // a failed node may have the name of another
				t.setAside(n)
			}
		}
	}
	counting, ended := p.Engine.CountingRequests(p.Warnings, "comparing nodes")
	defer ended()
	runner := &apply.Runner{Cluster: t, Inventories: t, Reporter: countedNodes{t, counting}, Secrets: p.Engine.Secrets, Now: time.Now, Options: apply.Options{
		Concurrency: p.RunOptions.Concurrency, DryRun: true, Finalizer: true, Began: p.Began, Grace: session.InterruptionGrace,
	}}
	_, err := runner.Run(ctx, p.Plans)
	t.tellUnwritable(p.Engine.Notef)
	return t, err
}

// setAside makes the run skip objects that are being deleted, so that it doesn't wait for
// them.
func (t *diffRun) setAside(n *plan.NodePlan) {
	for i := range n.Steps {
		s := &n.Steps[i]
		if s.Object != nil && s.Live != nil && s.Live.Deleting && s.Action == plan.ActionCreate {
			t.ending[stepKey{n.Key(), s.Object.Ref}] = *s
			s.Action, s.Reason = plan.ActionKeep, plan.ReasonLeftOut
		}
	}
}

// maxTrials limits how often the run tries an object that changes all the time.
const maxTrials = 3

// Write implements apply.Cluster. It tries again until both sides come from the same
// version, so that changes of others don't count as changes of apply. An object without a
// version doesn't exist yet.
func (t *diffRun) Write(ctx context.Context, r lynq.APIResource, w write.Request) (*metav1.PartialObjectMetadata, error) {
	if !w.DryRun {
		return nil, errDiffRun
	}
	for try := 1; ; try++ {
		next, m, err := t.Try(ctx, r, w)
		if err != nil {
			return nil, err
		}
		s := sides{next: next.Object}
		if version := next.GetResourceVersion(); version != "" && version != write.AbsentVersion {
			live, err := t.look(ctx, r, w.Namespace, w.Name)
			switch {
			case err != nil:
				return nil, err
			case (live == nil || live.GetResourceVersion() != version) && try < maxTrials:
				continue
			case live != nil:
				s.live = live.Object
			}
		}
		t.keep(r, w.Namespace, w.Name, s)
		return m, nil
	}
}

// Delete implements apply.Cluster.
func (t *diffRun) Delete(ctx context.Context, r lynq.APIResource, permit decide.Permit, o write.Deletion) (bool, error) {
	if !o.DryRun {
		return false, errDiffRun
	}
	namespace, name := permit.Ref().Namespace, permit.Ref().Name
	live, err := t.look(ctx, r, namespace, name)
	if err != nil {
		return false, err
	}
	gone, err := t.Cluster.Delete(ctx, r, permit, o)
	if t.unwritable(ctx, r, namespace, name, err, "delete") {
		gone, err = true, nil
	}
	if err != nil {
		return false, err
	}
	if live != nil {
		t.keep(r, namespace, name, sides{live: live.Object})
	}
	return gone, nil
}

// look reads an object. It returns nil if the object doesn't exist.
func (t *diffRun) look(ctx context.Context, r lynq.APIResource, namespace, name string) (*unstructured.Unstructured, error) {
	live, err := t.Get(ctx, r, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}

func (t *diffRun) keep(r lynq.APIResource, namespace, name string, s sides) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sides[lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: namespace, Name: name}] = s
}

// Check implements apply.Inventories. It accepts everything, because a dry run gives no
// object an owner.
func (*diffRun) Check(context.Context, *inventory.Inventory) error { return nil }

// Save implements apply.Inventories.
func (*diffRun) Save(context.Context, *inventory.Inventory) (*inventory.Inventory, error) {
	return nil, errDiffRun
}

// Restore implements apply.Inventories.
func (*diffRun) Restore(context.Context, *inventory.Inventory, func() (decide.Permit, error)) (*inventory.Inventory, error) {
	return nil, errDiffRun
}

// Reread implements apply.Inventories.
func (*diffRun) Reread(context.Context, *inventory.Inventory) (*inventory.Inventory, error) {
	return nil, errDiffRun
}

// Remove implements apply.Inventories.
func (*diffRun) Remove(context.Context, *inventory.Inventory, decide.Permit) error { return errDiffRun }

// Report implements report.Reporter. It compares each finished node and drops the node's
// objects, because the objects of all nodes may exceed the memory.
func (t *diffRun) Report(e report.Event) {
	switch e.Type {
	case report.EventObject:
		t.mu.Lock()
		defer t.mu.Unlock()
		t.ended[stepKey{e.Key(), e.Object}] = e
	case report.EventNode:
		if p := t.plans[e.Key()]; p != nil {
			t.compare(p, e.Outcome)
		}
	}
}

// countedNodes counts the finished nodes of a run.
type countedNodes struct {
	report.Reporter
	counting session.Counter
}

// Report implements report.Reporter.
func (r countedNodes) Report(e report.Event) {
	switch e.Type {
	case report.EventPlan:
		r.counting.Expect(e.Nodes)
	case report.EventNode:
		r.counting.Add(1)
	}
	r.Reporter.Report(e)
}
