package apply

import (
	"errors"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestWellAgain checks a failed node with nothing left to write. It is Ready after the next
// run, which saves its inventory once. Later runs save nothing.
func TestWellAgain(t *testing.T) {
	t.Parallel()
	broken := func() *plan.Node {
		return &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "n", Namespace: "ns", Name: "n"}, Failed: errors.New("it failed to render")}
	}
	well := func() *plan.Node { return node("n", configMap("a", "1"), configMap("b", "1")) }
	for _, test := range []struct {
		name string
		fail func(t *testing.T, s *stage)
	}{
		{"its row did not render", func(t *testing.T, s *stage) { mustApply(t, s, broken()) }},
		{"a write was refused", func(t *testing.T, s *stage) {
			s.before = func(_ string, ref lynq.Ref) error { return refused(ref) }
			mustApply(t, s, node("n", configMap("a", "1"), configMap("b", "2")))
			s.before = nil
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			mustApply(t, s, well())
			if !s.is(inventory.ConditionReady) {
				t.Fatal("the node is not ready at first")
			}
			test.fail(t, s)
			if s.is(inventory.ConditionReady) || !s.is(inventory.ConditionDegraded) {
				t.Fatal("the node did not fail")
			}
			version, requests := s.notes.version, len(s.requests)
			sum := mustApply(t, s, well())
			if !s.is(inventory.ConditionReady) || s.is(inventory.ConditionDegraded) {
				t.Errorf("the node's conditions are %+v", s.notes.all()[0].Status.Conditions)
			}
			if len(sum.Failed) > 0 || s.notes.version != version+1 || len(s.requests) != requests {
				t.Errorf("failed: %v; %d saves, want 1; objects: %v", sum.Failed, s.notes.version-version, s.requests[requests:])
			}
			mustApply(t, s, well())
			if s.notes.version != version+1 {
				t.Error("a well node was saved")
			}
		})
	}
}

// TestLeftOutStaysDegraded checks that a run which leaves out the failed object doesn't
// make the node ready.
func TestLeftOutStaysDegraded(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("n", configMap("a", "1")))
	s.before = func(_ string, ref lynq.Ref) error { return refused(ref) }
	mustApply(t, s, node("n", configMap("a", "1"), configMap("b", "1")))
	s.before = nil
	p, err := s.plan(t.Context(), node("n", configMap("a", "1"), configMap("b", "1")))
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Nodes[0].Steps {
		if step := &p.Nodes[0].Steps[i]; step.Object.ID == "b" {
			step.Action, step.Reason = plan.ActionKeep, plan.ReasonLeftOut
		}
	}
	if _, err := s.run(bounded(t), p); err != nil {
		t.Fatal(err)
	}
	if !s.is(inventory.ConditionDegraded) {
		t.Error("the node is no longer degraded")
	}
}

// TestNotWaitedForStaysDegraded checks that a run without waiting learns nothing about
// unready objects, and doesn't change the inventory.
func TestNotWaitedForStaysDegraded(t *testing.T) {
	s := newStage()
	n := func() *plan.Node { return node("n", configMap("a", "1"), stuck(widget("w"))) }
	mustApply(t, s, n())
	if !s.is(inventory.ConditionDegraded) {
		t.Fatal("the node did not fail")
	}
	version := s.notes.version
	s.options.Wait = false
	mustApply(t, s, n())
	if !s.is(inventory.ConditionDegraded) || s.notes.version != version {
		t.Error("the record was changed")
	}
}

// stuck returns an object that its controller gave up on.
func stuck(o formObject) formObject {
	o.Policy.Unwaited = false
	o.Content["status"] = map[string]any{"conditions": []any{
		map[string]any{"type": "Stalled", "status": "True", "reason": "Bad", "message": "no chart"},
	}}
	return o
}

// is reports whether a condition of the only node is recorded as true.
func (s *stage) is(condition string) bool {
	return s.notes.all()[0].Status.Is(condition)
}
