package apply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// remove deletes nodes of the stage.
func (s *stage) remove(t *testing.T, c plan.Cascade, names ...string) *report.Summary {
	t.Helper()
	p := s.removal(t, c, names...)
	sum, err := s.run(bounded(t), p)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// removal returns the plan that deletes nodes of the stage.
func (s *stage) removal(t *testing.T, c plan.Cascade, names ...string) *plan.Plan {
	t.Helper()
	in := &decide.Input{Hub: lynq.HubKey{Name: "crm"}, Scope: decide.Scope{Delete: map[lynq.NodeKey]bool{}}, Options: decide.Options{Cascade: c}, Recorded: decide.Recorded{Inventories: s.notes.all()}}
	for _, name := range names {
		in.Scope.Delete[lynq.NodeKey{Namespace: "ns", Name: name}] = true
	}
	seen, err := observe.Nodes(t.Context(), s, "crm", nil, in.Recorded.Inventories)
	if err != nil {
		t.Fatal(err)
	}
	in.Observed = *seen
	return decide.Decide(in, decide.Limits{AllowEmpty: true})
}

// deletes returns the names of the deleted objects in their order.
func (s *stage) deletes() string {
	var names []string
	for _, r := range s.requests {
		if ref, ok := strings.CutPrefix(r, "delete "); ok {
			names = append(names, ref[strings.LastIndex(ref, "/")+1:])
		}
	}
	return strings.Join(names, " ")
}

func refused(ref lynq.Ref) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, ref.Name, errors.New("no"))
}

// chain returns a node with dependent objects: c depends on b, and b on a. x depends on
// nothing.
func chain() *plan.Node {
	return node("n", configMap("a", "1"), configMap("b", "1", "a"), configMap("c", "1", "b"), configMap("x", "1"))
}

// TestLeavesInReverse checks that lynqctl deletes each object after its dependents, under
// every cascade that deletes.
func TestLeavesInReverse(t *testing.T) {
	for _, c := range []plan.Cascade{plan.CascadeOrdered, plan.CascadeBackground, plan.CascadeForeground} {
		t.Run(string(c), func(t *testing.T) {
			s := newStage()
			mustApply(t, s, chain())
			if sum := s.remove(t, c, "n"); len(sum.Failed) > 0 {
				t.Errorf("%s: %+v", c, sum.Failed)
			}
			got := strings.Fields(s.deletes())
			at := func(name string) int { return slices.Index(got, name) }
			if len(got) != 4 || at("c") > at("b") || at("b") > at("a") {
				t.Errorf("%s: deleted %q", c, got)
			}
			if len(s.notes.saved) > 0 {
				t.Errorf("%s: the record is still there", c)
			}
		})
	}
}

// TestStaysForDependents checks that lynqctl keeps an object and both entries if it
// couldn't delete a dependent. The next run continues.
func TestStaysForDependents(t *testing.T) {
	s := newStage()
	mustApply(t, s, chain())
	s.before = func(verb string, ref lynq.Ref) error {
		if verb == "delete" && ref.Name == "b" {
			return refused(ref)
		}
		return nil
	}
	if sum := s.remove(t, plan.CascadeOrdered, "n"); len(sum.Failed) != 1 || sum.Failed[0].Outcome != report.OutcomeFailed {
		t.Fatalf("failed: %+v, want node n", sum.Failed)
	}
	inv := s.notes.saved[lynq.NodeKey{Namespace: "ns", Name: "n"}]
	var names []string
	for _, r := range inv.Entries {
		names = append(names, r.Name)
	}
	// Nobody knows that b doesn't depend on x, because x and a have the same order.
	if got := strings.Join(names, " "); got != "a b x" {
		t.Fatalf("recorded: %s, want a, b and x", got)
	}
	if !inv.Status.Is(inventory.ConditionDegraded) || inv.Activate != "false" {
		t.Errorf("status %+v, activate %s", inv.Status, inv.Activate)
	}
	s.before = nil
	if sum := s.remove(t, plan.CascadeOrdered, "n"); len(sum.Failed) > 0 || len(s.notes.saved) > 0 || len(s.Objects) > 0 {
		t.Errorf("%+v; left: %v", sum.Failed, s.Sorted())
	}
}

// TestHeldTooLong checks that lynqctl doesn't wait forever for an object that another
// client's finalizer blocks, and reports the finalizer.
func TestHeldTooLong(t *testing.T) {
	s := newStage()
	mustApply(t, s, chain())
	s.Mu.Lock()
	s.Objects[lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "c"}].SetFinalizers([]string{"example.com/backup"})
	s.Mu.Unlock()
	c := &patience{}
	r := &Runner{Cluster: s, Inventories: s.notes, Reporter: c, Now: c.now, Options: s.options}
	sum, err := summed(r.Run(bounded(t), []plan.Plan{*s.removal(t, plan.CascadeOrdered, "n")}))
	if err != nil || len(sum.Failed) != 1 || sum.Failed[0].Outcome != report.OutcomeNotReady {
		t.Fatalf("%v, failed: %+v, want node n, not ready", err, sum)
	}
	if got, want := sum.Failed[0].Problems[0].Problem(), "ConfigMap/ns/c: it is being deleted since 20"; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "; finalizer example.com/backup holds it") {
		t.Errorf("%s, want %s", got, want)
	}
	if got := s.notes.names(); len(got) != 4 {
		t.Errorf("recorded: %v, want all", got)
	}
}

// patience is a clock that jumps ahead when the run waits for a blocked deletion.
type patience struct{ ended atomic.Bool }

func (p *patience) Report(e report.Event) {
	if e.Type == report.EventWait && strings.Contains(e.Message, "holds it") {
		p.ended.Store(true)
	}
}

func (p *patience) now() time.Time {
	if p.ended.Load() {
		return time.Now().Add(lynq.DefaultPolicy().Timeout)
	}
	return time.Now()
}

// TestCollectedLast checks that objects left to the garbage collector are deleted with the
// inventory, after all other steps.
func TestCollectedLast(t *testing.T) {
	s := newStage()
	far := configMap("far", "1")
	far.Policy.Deletion = lynq.DeleteRetain
	mustApply(t, s, node("n", configMap("a", "1"), far))
	s.before = func(verb string, ref lynq.Ref) error {
		if verb == "write" && ref.Name == "far" {
			return refused(ref)
		}
		return nil
	}
	if sum := s.remove(t, plan.CascadeBackground, "n"); len(sum.Failed) != 1 {
		t.Fatalf("failed: %+v, want node n", sum.Failed)
	}
	if got := s.notes.names(); len(got) != 2 {
		t.Errorf("recorded: %v, want a and far", got)
	}
	s.before = nil
	if sum := s.remove(t, plan.CascadeBackground, "n"); len(sum.Failed) > 0 || sum.Actions[plan.ActionCollect] != 1 || len(s.notes.saved) > 0 {
		t.Errorf("%+v", sum)
	}
	if got := s.deletes(); got != "" {
		t.Errorf("deleted %s", got)
	}
}

// TestTakenOverBeforeCollected checks that lynqctl doesn't leave an object to the garbage
// collector if somebody has taken it over since the plan. The garbage collector only checks
// owners.
func TestTakenOverBeforeCollected(t *testing.T) {
	ways := takenOver()
	ways["a second owner"] = func(m *metav1.PartialObjectMetadata) {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: "o", UID: "o"})
	}
	ways["hands off"] = func(m *metav1.PartialObjectMetadata) {
		m.Annotations[wellknown.AnnotationMode] = wellknown.ModeUnmanaged
	}
	ways["nobody"] = func(m *metav1.PartialObjectMetadata) { m.Annotations["example.com/note"] = "seen" }
	for who, change := range ways {
		s := newStage()
		mustApply(t, s, node("n", configMap("shared", "1")))
		p := s.removal(t, plan.CascadeBackground, "n")
		if p.Counts[plan.ActionCollect] != 1 {
			t.Fatalf("%s: plan %v", who, p.Counts)
		}
		s.takeOver(shared, change)
		if _, err := s.run(bounded(t), p); err != nil {
			t.Fatal(err)
		}
		there, recorded := s.Objects[shared], len(s.notes.saved) > 0
		var got string
		switch {
		case there == nil:
			got = "deleted"
		case recorded:
			got = "kept"
		case slices.ContainsFunc(there.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == "inv-n" }):
			got = "left to the garbage collector"
		default:
			got = "let go"
		}
		want := map[string]string{"a second owner": "deleted", "hands off": "kept", "nobody": "left to the garbage collector"}[who]
		if want == "" {
			want = "let go"
		}
		if got != want {
			t.Errorf("%s: it was %s, want %s", who, got, want)
		}
	}
}

// TestKindAndItsObject deletes a CustomResourceDefinition and an object of its kind in one
// node, although neither depends on the other.
func TestKindAndItsObject(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("n", definition(), widget("w")))
	if sum := s.remove(t, plan.CascadeBackground, "n"); len(sum.Failed) > 0 || len(s.notes.saved) > 0 || len(s.Objects) > 0 {
		t.Errorf("%+v; left: %v", sum.Failed, s.Sorted())
	}
}

// TestGivenUpIsLeftBehind checks that lynqctl leaves an object behind that it can't mark,
// and deletes the rest of the node.
func TestGivenUpIsLeftBehind(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("n", configMap("a", "1"), configMap("shared", "1", "a")))
	s.before = func(_ string, ref lynq.Ref) error {
		if ref == shared {
			return refused(ref)
		}
		return nil
	}
	p := s.removal(t, plan.CascadeOrdered, "n")
	in := &decide.Input{Hub: lynq.HubKey{Name: "crm"}, Scope: decide.Scope{Delete: map[lynq.NodeKey]bool{{Namespace: "ns", Name: "n"}: true}}, Recorded: decide.Recorded{Inventories: s.notes.all()}, Options: decide.Options{GiveUp: map[lynq.Ref]error{shared: nil}}}
	in.Observed.Live = map[lynq.Ref]*tracking.Live{}
	for _, step := range p.Nodes[0].Steps {
		in.Observed.Live[step.Entry.Ref] = step.Live
	}
	told := &events{}
	r := &Runner{Cluster: s, Inventories: s.notes, Reporter: told, Now: time.Now, Options: s.options}
	sum, err := summed(r.Run(bounded(t), []plan.Plan{*decide.Decide(in, decide.Limits{AllowEmpty: true})}))
	if err != nil || len(sum.Failed) > 0 || len(s.notes.saved) > 0 {
		t.Fatalf("%v, %+v", err, sum)
	}
	if sum.Actions[plan.ActionRelease] != 1 || sum.Actions[plan.ActionDelete] != 1 || s.Objects[shared] == nil {
		t.Errorf("actions %v, left: %v", sum.Actions, s.Sorted())
	}
	warned := slices.ContainsFunc(told.all, func(e report.Event) bool {
		return e.Type == report.EventWarning && e.Object == shared && strings.HasPrefix(e.Message, "lynqctl keeps it and stops managing it: ")
	})
	if !warned {
		t.Error("nobody was told")
	}
}

// TestNothingToDelete checks that lynqctl deletes a node without objects, and counts it as
// deleted.
func TestNothingToDelete(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("n"))
	if sum := s.remove(t, plan.CascadeOrdered, "n"); sum.Nodes[report.OutcomeDone] != 1 || len(s.notes.saved) > 0 {
		t.Errorf("%+v", sum)
	}
}

// TestInterruptedRemoval checks that an interrupted run deletes nothing more, and keeps the
// entries of the remaining objects.
func TestInterruptedRemoval(t *testing.T) {
	s := newStage()
	mustApply(t, s, chain())
	ctx, cancel := context.WithCancel(bounded(t))
	s.before = func(verb string, _ lynq.Ref) error {
		if verb == "delete" {
			cancel()
		}
		return nil
	}
	if _, err := s.run(ctx, s.removal(t, plan.CascadeOrdered, "n")); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if got := s.deletes(); got != "c" {
		t.Errorf("deleted %s, want c", got)
	}
	for ref := range s.Objects {
		if s.notes.names()[ref] != "n" {
			t.Errorf("%s is recorded no more", ref)
		}
	}
}
