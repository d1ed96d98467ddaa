package apply

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// reconciling returns an object that its controller still works on.
func reconciling(o formObject) formObject {
	o.Policy.Unwaited = false
	o.Content["status"] = map[string]any{"conditions": []any{
		map[string]any{"type": "Reconciling", "status": "True", "reason": "Working", "message": "0 of 1"},
	}}
	return o
}

// onEvent calls a function when a run reports an event.
type onEvent func(report.Event)

func (f onEvent) Report(e report.Event) { f(e) }

// warnings are the reasons of the Warning events that a run records.
type warnings struct {
	mu      sync.Mutex
	reasons []string
}

func (w *warnings) Record(_ context.Context, e report.KubernetesEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Type == report.Warning {
		w.reasons = append(w.reasons, e.Reason)
	}
}

func (*warnings) Flush(context.Context) {}

// interruptible executes a run that ends while it waits for the first object.
func (s *stage) interruptible(t *testing.T, end func(context.Context) (context.Context, func()), nodes ...*plan.Node) (*report.Summary, []string) {
	t.Helper()
	p, err := s.plan(bounded(t), nodes...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := end(bounded(t))
	told := &warnings{}
	r := &Runner{Cluster: s, Inventories: s.notes, Recorder: told, Now: time.Now, Options: s.options, Reporter: onEvent(func(e report.Event) {
		if e.Type == report.EventWait {
			stop()
		}
	})}
	sum, err := summed(r.Run(ctx, []plan.Plan{*p}))
	if !sum.Interrupted || err == nil {
		t.Fatalf("the run was not interrupted: %v", err)
	}
	return sum, told.reasons
}

// TestInterrupted checks a run that is interrupted or has no time left. Its nodes are
// progressing and not degraded. The next run reports them when they are ready.
func TestInterrupted(t *testing.T) {
	for name, end := range map[string]func(context.Context) (context.Context, func()){
		"interrupted": func(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) },
		"timeout": func(ctx context.Context) (context.Context, func()) {
			ctx, stop := context.WithCancelCause(ctx)
			return ctx, func() { stop(context.DeadlineExceeded) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			// Dependents of w don't begin, and lynqctl keeps an object that the form drops.
			mustApply(t, s, node("n", configMap("old", "1")))
			next := func() *plan.Node { return node("n", reconciling(widget("w")), configMap("a", "1", "w")) }
			sum, told := s.interruptible(t, end, next())
			if len(told) > 0 {
				t.Errorf("events: %v", told)
			}
			if sum.Nodes[report.OutcomeInterrupted] != 1 || len(sum.Failed) != 1 {
				t.Errorf("nodes: %v", sum.Nodes)
			}
			st := s.notes.all()[0].Status
			if !st.Is(inventory.ConditionProgressing) || st.Is(inventory.ConditionDegraded) || st.Failed+st.Skipped > 0 {
				t.Errorf("status: %+v", st)
			}
			s.heal("w")
			if sum := mustApply(t, s, next()); len(sum.Failed) > 0 || !s.is(inventory.ConditionReady) {
				t.Errorf("after the next run: %+v", s.notes.all()[0].Status)
			}
		})
	}
}

// TestInterruptedBeforeAKeptObject checks that the next run reports the node as ready,
// although the remaining object needs no write.
func TestInterruptedBeforeAKeptObject(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("n", widget("w"), configMap("a", "1", "w")))
	ctx, cancel := context.WithCancel(bounded(t))
	s.before = func(string, lynq.Ref) error {
		cancel()
		return nil
	}
	changed := widget("w")
	changed.Content["spec"] = map[string]any{"value": "2"}
	next := func() *plan.Node { return node("n", changed, configMap("a", "1", "w")) }
	if _, err := s.applied(ctx, next()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if !s.is(inventory.ConditionProgressing) {
		t.Fatalf("status: %+v", s.notes.all()[0].Status)
	}
	s.before = nil
	mustApply(t, s, next())
	if !s.is(inventory.ConditionReady) {
		t.Errorf("status: %+v", s.notes.all()[0].Status)
	}
}

// TestFailedAndInterrupted checks that an interruption doesn't hide an earlier failure.
func TestFailedAndInterrupted(t *testing.T) {
	s := newStage()
	s.before = func(_ string, ref lynq.Ref) error {
		if ref.Name == "a" {
			return refused(ref)
		}
		return nil
	}
	s.interruptible(t, func(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) },
		node("n", configMap("a", "1"), reconciling(widget("w"))))
	if !s.is(inventory.ConditionDegraded) {
		t.Errorf("status: %+v", s.notes.all()[0].Status)
	}
}

// cutNotes interrupt the run in one of their writes, and give no answer until its grace
// period is over.
type cutNotes struct {
	*notes
	at, writes int
	stop       func()
}

func (n *cutNotes) Save(ctx context.Context, inv *inventory.Inventory) (*inventory.Inventory, error) {
	if n.writes++; n.writes < n.at {
		return n.notes.Save(ctx, inv)
	}
	n.stop()
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestInterruptedWhileItRecords ends the grace period before a node could record what it
// begins, or what it did. The node is interrupted, and not failed.
func TestInterruptedWhileItRecords(t *testing.T) {
	for at, want := range map[int]string{1: "before lynqctl recorded what it begins", 2: "before lynqctl recorded what it did"} {
		s := newStage()
		p, err := s.plan(bounded(t), node("n", configMap("a", "1")))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(bounded(t))
		r := &Runner{Cluster: s, Inventories: &cutNotes{notes: s.notes, at: at, stop: stop}, Now: time.Now, Options: s.options, Reporter: onEvent(func(report.Event) {})}
		r.Options.Grace = time.Millisecond
		sum, err := summed(r.Run(ctx, []plan.Plan{*p}))
		if !errors.Is(err, context.Canceled) || sum.Nodes[report.OutcomeInterrupted] != 1 || sum.Nodes[report.OutcomeFailed] != 0 {
			t.Errorf("write %d: %v, %v", at, sum.Nodes, err)
		}
		if said := strings.Join(report.ProblemTexts(sum.Failed[0].Problems), "; "); !strings.Contains(said, want) {
			t.Errorf("write %d: %s", at, said)
		}
	}
}
