package apply

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// recorded returns the objects in the status of the only node's inventory.
func (s *stage) recorded() []inventory.ObjectStatus { return s.notes.all()[0].Status.Objects }

// TestObjectStatus checks that the inventory names each object that isn't in its desired
// state, with the reason, even one that was never written.
func TestObjectStatus(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("n", configMap("old", "1")))
	s.before = func(_ string, ref lynq.Ref) error {
		if ref.Name == "refused" {
			return refused(ref)
		}
		return nil
	}
	s.make(lynq.Ref{Kind: "Service", Namespace: "ns", Name: "theirs"}, map[string]any{"labels": map[string]any{"app.kubernetes.io/managed-by": "Helm"}, "annotations": map[string]any{"meta.helm.sh/release-name": "x", "meta.helm.sh/release-namespace": "ns"}})
	theirs := configMap("theirs", "1")
	theirs.Kind, theirs.Content["kind"] = "Service", "Service"
	mustApply(t, s, node("n", stuck(widget("broken")), configMap("after", "1", "broken"), configMap("refused", "1"), theirs, configMap("fine", "1")))
	want := []inventory.ObjectStatus{
		{ID: "broken", RefFields: lynq.RefFields{Group: "example.com", Kind: "Widget", Namespace: "ns", Name: "broken"}, Reason: inventory.ObjectNotReady, Message: "Stalled: no chart"},
		{ID: "after", RefFields: lynq.RefFields{Kind: "ConfigMap", Namespace: "ns", Name: "after"}, Reason: inventory.ObjectDependencyFailed},
		{ID: "refused", RefFields: lynq.RefFields{Kind: "ConfigMap", Namespace: "ns", Name: "refused"}, Reason: inventory.ObjectFailed},
		{ID: "theirs", RefFields: lynq.RefFields{Kind: "Service", Namespace: "ns", Name: "theirs"}, Reason: inventory.ObjectConflict},
		{ID: "old", RefFields: lynq.RefFields{Kind: "ConfigMap", Namespace: "ns", Name: "old"}, Reason: inventory.ObjectNodeFailed, Dropped: true},
	}
	if diff := cmp.Diff(want, s.recorded(), cmpopts.IgnoreFields(inventory.ObjectStatus{}, "Since", "Message")); diff != "" {
		t.Error(diff)
	}
	for i, o := range s.recorded() {
		if (o.Since.IsZero()) != (i > 0) || o.Message == "" {
			t.Errorf("%s: since %v: %q", o.ID, o.Since, o.Message)
		}
	}
	// After all objects reach their desired state, the status is empty.
	s.before = nil
	s.heal("broken")
	mustApply(t, s, node("n", stuck(widget("broken")), configMap("after", "1", "broken"), configMap("refused", "1"), configMap("fine", "1")))
	if got := s.recorded(); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// restarting is a pod with this number of restarts.
type restarting int

func (restarting) Stuck(context.Context, lynq.Ref) string { return "" }

func (r restarting) Cause(context.Context, lynq.Ref) string {
	return fmt.Sprintf("pod a: container main: CrashLoopBackOff, exit code 3, %d restarts", r)
}

// TestRestarts checks that the inventory has the cause without the growing count of
// restarts. Otherwise every run would write the inventory of a broken node.
func TestRestarts(t *testing.T) {
	s := newStage()
	var versions []string
	for _, restarts := range []restarting{1, 2, 3} {
		s.causes = restarts
		mustApply(t, s, node("n", stuck(widget("broken"))))
		versions = append(versions, s.notes.all()[0].ResourceVersion)
	}
	if versions[1] != versions[2] {
		t.Errorf("the inventory was written again: %v", versions)
	}
	const want = "Bad: no chart; pod a: container main: CrashLoopBackOff, exit code 3"
	if got := s.recorded()[0].Message; got != want {
		t.Errorf("recorded is %q, want %q", got, want)
	}
	for _, c := range s.notes.all()[0].Status.Conditions {
		if c.Type == inventory.ConditionDegraded && !strings.HasSuffix(c.Message, want) {
			t.Errorf("the condition says %q", c.Message)
		}
	}
}

// clock is a time that tests set.
type clock struct{ now time.Time }

// at applies a node at a given time, and returns the summary.
func (s *stage) at(t *testing.T, c *clock, told *[]report.Event, n *plan.Node) *report.Summary {
	t.Helper()
	p, err := s.plan(bounded(t), n)
	if err != nil {
		t.Fatal(err)
	}
	events := &events{}
	r := &Runner{Cluster: s, Inventories: s.notes, Reporter: events, Now: func() time.Time { return c.now }, Options: s.options}
	sum, err := summed(r.Run(bounded(t), []plan.Plan{*p}))
	if err != nil {
		t.Fatal(err)
	}
	*told = events.all
	return sum
}

// TestTimeUsedUp checks that a run doesn't wait again for a broken object that it doesn't
// write. Its timeout counts from its last write. If it has become ready meanwhile, it
// succeeds.
func TestTimeUsedUp(t *testing.T) {
	s, c := newStage(), &clock{time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)}
	var told []report.Event
	next := func() *plan.Node {
		w := reconciling(widget("w"))
		w.Policy.Timeout = time.Hour
		return node("n", w)
	}
	s.options.Wait = false
	if sum := s.at(t, c, &told, next()); len(sum.Failed) > 0 {
		t.Fatalf("%+v", sum.Failed)
	}
	if got := s.recorded(); len(got) != 1 || got[0].Reason != inventory.ObjectNotWaitedFor || !got[0].Since.Equal(c.now) {
		t.Fatalf("recorded %+v", got)
	}
	s.options.Wait = true
	c.now = c.now.Add(2 * time.Hour)
	for range 2 {
		sum := s.at(t, c, &told, next())
		if len(sum.Failed) != 1 || !strings.Contains(sum.Failed[0].Problems[0].Problem(), "its time expired at 2026-07-01T13:00:00Z (raise timeoutSeconds to wait longer): Working: 0 of 1") {
			t.Fatalf("%+v", sum.Failed)
		}
		if got := s.recorded(); len(got) != 1 || got[0].Reason != inventory.ObjectTimedOut {
			t.Errorf("recorded %+v", got)
		}
	}
	// lynqctl writes it again, so the timeout starts again and the run waits.
	changed := func() *plan.Node {
		w := reconciling(widget("w"))
		w.Policy.Timeout = time.Hour
		w.Content["spec"] = map[string]any{"value": "2"}
		return node("n", w)
	}
	s.interruptible(t, func(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) }, changed())
	s.heal("w")
	c.now = c.now.Add(24 * 365 * time.Hour)
	if sum := s.at(t, c, &told, changed()); len(sum.Failed) > 0 || !s.is(inventory.ConditionReady) || len(s.recorded()) > 0 {
		t.Errorf("%+v, recorded %+v", sum.Failed, s.recorded())
	}
}
