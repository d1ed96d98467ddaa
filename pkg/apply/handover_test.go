package apply

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// stuckAfter limits a test with a run that would never end. A run that ends does so at
// once, so the value measures nothing.
const stuckAfter = 5 * time.Minute

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), stuckAfter, errors.New("the run does not end"))
	t.Cleanup(cancel)
	return ctx
}

func mustApply(t *testing.T, s *stage, nodes ...*plan.Node) *report.Summary {
	t.Helper()
	sum, err := s.applied(bounded(t), nodes...)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

var shared = lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "shared"}

// TestHandOverInterrupted checks a run that was killed after one node had taken an object
// over, and before the other had dropped its entry. The next run only has to fix the
// inventory.
func TestHandOverInterrupted(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("a", configMap("a", "1"), configMap("shared", "1")), node("b", configMap("b", "1")))
	before := s.notes.saved[lynq.NodeKey{Namespace: "ns", Name: "a"}].Clone()
	a, b := func() *plan.Node { return node("a", configMap("a", "1")) }, func() *plan.Node { return node("b", configMap("b", "1"), configMap("shared", "1")) }
	mustApply(t, s, a(), b())
	before.ResourceVersion = s.notes.saved[lynq.NodeKey{Namespace: "ns", Name: "a"}].ResourceVersion
	s.notes.saved[lynq.NodeKey{Namespace: "ns", Name: "a"}] = before // the kill

	if sum := mustApply(t, s, a(), b()); len(sum.Failed) > 0 {
		t.Errorf("failed: %+v", sum.Failed)
	}
	if _, found := inventory.Find(s.notes.saved[lynq.NodeKey{Namespace: "ns", Name: "a"}].Entries, shared); found {
		t.Error("node a still records what node b has")
	}
	if got := s.notes.names()[shared]; got != "b" {
		t.Errorf("it is recorded by %q, want b", got)
	}
}

// TestHandOverToBrokenRecord checks that a node keeps its object if the node that now needs
// it has an unreadable inventory.
func TestHandOverToBrokenRecord(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("a", configMap("a", "1"), configMap("shared", "1")))
	nodes := []*plan.Node{node("a", configMap("a", "1")), node("b", configMap("shared", "1"))}
	in := &decide.Input{
		Hub:      lynq.HubKey{Name: "crm"},
		Desired:  decide.Desired{Forms: []lynq.FormKey{{Name: "web"}}, Nodes: nodes, Active: 2},
		Recorded: decide.Recorded{Inventories: s.notes.all(), Broken: map[lynq.NodeKey]error{{Namespace: "ns", Name: "b"}: errors.New("data.format: it is missing")}},
	}
	seen, err := observe.Nodes(t.Context(), s, "crm", nodes, in.Recorded.Inventories)
	if err != nil {
		t.Fatal(err)
	}
	in.Observed = *seen
	sum, err := s.run(bounded(t), decide.Decide(in, decide.Limits{MaxDelete: limits.DefaultMaxDelete()}))
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Failed) != 2 {
		t.Errorf("failed: %+v, want both nodes", sum.Failed)
	}
	if s.Objects[shared] == nil || s.notes.names()[shared] != "a" {
		t.Error("the object is gone, or node a forgot it")
	}
}

// TestHandOverInRollout exchanges objects between two nodes of a form while only one node
// may change at a time.
func TestHandOverInRollout(t *testing.T) {
	s := newStage()
	s.options.Rollouts = map[schedule.Form]schedule.Limits{webOfCRM(): {MaxSkew: 1}}
	mustApply(t, s, node("a", configMap("one", "1")), node("b", configMap("two", "1")))
	if sum := mustApply(t, s, node("a", configMap("two", "1")), node("b", configMap("one", "1"))); len(sum.Failed) > 0 {
		t.Errorf("failed: %+v", sum.Failed)
	}
	for _, name := range []string{"one", "two"} {
		t.Run(name, func(t *testing.T) {
			ref := lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: name}
			want := map[string]string{"one": "b", "two": "a"}[name]
			if s.Objects[ref] == nil || s.notes.names()[ref] != want {
				t.Errorf("%s is recorded by %q, want %s", ref, s.notes.names()[ref], want)
			}
		})
	}
}

// TestProviderInRollout checks a node that needs a namespace from a node that the rollout
// would begin later.
func TestProviderInRollout(t *testing.T) {
	s := newStage()
	s.options.Rollouts = map[schedule.Form]schedule.Limits{webOfCRM(): {MaxSkew: 1}}
	inTeam := configMap("in-team", "1")
	inTeam.Namespace, inTeam.Content["metadata"] = "team", map[string]any{"name": "in-team", "namespace": "team"}
	s.before = func(_ string, ref lynq.Ref) error {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		if ref.Namespace == "team" && s.Objects[lynq.Ref{Kind: "Namespace", Name: "team"}] == nil {
			return errors.New("there is no namespace team")
		}
		return nil
	}
	if sum := mustApply(t, s, node("a", inTeam), node("b", namespace("team"))); len(sum.Failed) > 0 {
		t.Errorf("failed: %+v", sum.Failed)
	}
}

func namespace(name string, dependIDs ...string) formObject {
	p := lynq.DefaultPolicy()
	p.Unwaited = true
	return formObject{
		Object: lynq.Object{Ref: lynq.Ref{Kind: "Namespace", Name: name}, ID: "ns-" + name, Policy: &p, DependIDs: dependIDs},
		Content: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
			"status": map[string]any{"phase": "Active"},
		},
	}
}

// TestNeedsItself checks a namespace that depends on an object in it. The run reports that
// instead of waiting forever.
func TestNeedsItself(t *testing.T) {
	s := newStage()
	inTeam := configMap("in-team", "1")
	inTeam.Namespace, inTeam.Content["metadata"] = "team", map[string]any{"name": "in-team", "namespace": "team"}
	sum := mustApply(t, s, node("a", inTeam, namespace("team", "in-team")))
	if len(sum.Failed) != 1 || len(sum.Failed[0].Problems) != 2 {
		t.Errorf("failed: %+v, want node a with a problem for each object", sum.Failed)
	}
}
