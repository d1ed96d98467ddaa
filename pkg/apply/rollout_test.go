package apply

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestTurns: who may begin to change. No further node does while maxSkew are not
// ready; those with nothing to write need no turn.
func TestTurns(t *testing.T) {
	broken := func(names ...string) (nodes []brokenNode) {
		for _, name := range names {
			nodes = append(nodes, brokenNode{NodeKey{"ns", name}, "not-ready"})
		}
		return nodes
	}
	const row, form, none, stuck = shareRow, shareForm, shareNone, shareStuck
	for _, test := range []struct {
		name  string
		turns turns
		share share
		want  turn
	}{
		{"all turns are free", turns{most: 1}, form, turnNow},
		{"one is free", turns{most: 2, changing: 1}, form, turnNow},
		{"all are taken", turns{most: 2, changing: 2}, form, turnLater},
		{"a new node waits too", turns{most: 2, changing: 2}, row, turnLater},
		{"nothing to write", turns{most: 1, changing: 1, broken: broken("a")}, none, turnNow},
		{"nothing to write, not ready", turns{most: 1, changing: 1}, stuck, turnNow},
		{"one of two is broken", turns{most: 2, broken: broken("a")}, form, turnNow},
		{"one is broken, the other taken", turns{most: 2, changing: 1, broken: broken("a")}, form, turnLater},
		{"both are broken", turns{most: 2, broken: broken("a", "b")}, form, turnNever},
		{"both are broken, for a row", turns{most: 2, broken: broken("a", "b")}, row, turnNever},
		{"broken ones beyond the limit", turns{most: 1, changing: 1, broken: broken("a", "b")}, row, turnNever},
		{"an earlier run's node is not ready yet", turns{most: 1, pending: 1}, form, turnLater},
		{"it is none of a new tenant's business", turns{most: 1, pending: 1}, row, turnNow},
		{"an earlier run's node is broken", turns{most: 1, stuck: broken("a")}, form, turnNever},
		{"nor is that", turns{most: 1, stuck: broken("a")}, row, turnNow},
		{"one broken then, one now", turns{most: 2, stuck: broken("a"), broken: broken("b")}, form, turnNever},
		{"one broken then, one changing", turns{most: 2, stuck: broken("a"), changing: 1}, form, turnLater},
		{"one broken then, one free", turns{most: 2, stuck: broken("a")}, form, turnNow},
	} {
		if got := test.turns.verdict(test.share); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestTurnsOfNodes: a node gives its turn back when it is ready, and keeps it when
// it is not.
func TestTurnsOfNodes(t *testing.T) {
	a, b := NodeKey{"ns", "a"}, NodeKey{"ns", "b"}
	turns := turns{most: 2}
	turns.take(shareStuck)
	turns.take(shareForm)
	turns.end(shareForm, a, true, "done")
	if got := turns.verdict(shareForm); got != turnNow {
		t.Errorf("after a ready node: %d", got)
	}
	turns.take(shareRow)
	turns.end(shareRow, b, false, "conflicted")
	if got := turns.verdict(shareForm); got != turnLater {
		t.Errorf("beside a broken one and one of before: %d", got)
	}
	turns.end(shareStuck, a, false, "not-ready")
	if got := turns.verdict(shareForm); got != turnNever {
		t.Errorf("beside two broken ones: %d", got)
	}
	if got, want := turns.why(shareForm), "the rollout of the form stopped: node a is not-ready, node b is conflicted"; got != want {
		t.Errorf("why: %s, want %s", got, want)
	}
	if got, want := turns.why(shareRow), "the rollout of the form stopped: node b is conflicted"; got != want {
		t.Errorf("why: %s, want %s", got, want)
	}
	for _, name := range []string{"c", "d", "e"} {
		turns.end(shareRow, NodeKey{"ns", name}, false, "failed")
	}
	if got := turns.why(shareRow); !strings.HasSuffix(got, "node d is failed, and 1 more") {
		t.Errorf("why: %s", got)
	}
}

func TestShareOf(t *testing.T) {
	object := func(id, template string) *Object {
		policy := lynq.DefaultPolicy()
		return &Object{Ref: lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: id}, ID: id, Template: template, Policy: &policy}
	}
	record := func(id, template string, ready bool) *inventory.Record {
		return &inventory.Record{Ref: object(id, "").Ref, ID: id, Template: template, Ready: ready}
	}
	patient := object("a", "v1")
	patient.Policy.WaitForReady = false
	for _, test := range []struct {
		name  string
		steps []Step
		want  share
	}{
		{"nothing changed", []Step{{Action: ActionKeep, Object: object("a", "v1"), Record: record("a", "v1", true)}}, shareNone},
		{"not ready since it was written", []Step{{Action: ActionKeep, Object: object("a", "v1"), Record: record("a", "v1", false)}}, shareStuck},
		{"not ready, and not waited for", []Step{{Action: ActionKeep, Object: patient, Record: record("a", "v1", false)}}, shareNone},
		{"not ready, and left out", []Step{{Action: ActionKeep, Reason: ReasonLeftOut, Object: object("a", "v1"), Record: record("a", "v1", false)}}, shareNone},
		{"not ready, and not yet written as the form has it", []Step{
			{Action: ActionKeep, Object: object("a", "v2"), Record: record("a", "v1", false)},
		}, shareNone},
		{"a conflict", []Step{{Action: ActionBlock, Object: object("a", "v1"), Record: record("a", "v1", false)}}, shareNone},
		{"new", []Step{{Action: ActionCreate, Object: object("a", "v1")}}, shareRow},
		{"the row changed", []Step{{Action: ActionUpdate, Object: object("a", "v1"), Record: record("a", "v1", true)}}, shareRow},
		{"somebody changed it", []Step{{Action: ActionUpdate, Object: object("a", "v1"), Record: record("a", "v1", false)}}, shareRow},
		{"the form changed", []Step{{Action: ActionUpdate, Object: object("a", "v2"), Record: record("a", "v1", true)}}, shareForm},
		{"the form changed another object", []Step{
			{Action: ActionKeep, Object: object("a", "v2"), Record: record("a", "v1", true)},
			{Action: ActionUpdate, Object: object("b", "v1"), Record: record("b", "v1", true)},
		}, shareForm},
		{"the form has one more", []Step{
			{Action: ActionKeep, Object: object("a", "v1"), Record: record("a", "v1", true)},
			{Action: ActionCreate, Object: object("b", "v1")},
		}, shareForm},
		{"the form has one less", []Step{
			{Action: ActionKeep, Object: object("a", "v1"), Record: record("a", "v1", true)},
			{Action: ActionDelete, Record: record("b", "v1", true)},
		}, shareForm},
		{"a record that does not know", []Step{{Action: ActionUpdate, Object: object("a", "v2"), Record: record("a", "", true)}}, shareRow},
	} {
		p := &NodePlan{Desired: &Node{}, Steps: test.steps}
		for _, s := range test.steps {
			if s.Record != nil {
				if p.Inventory == nil {
					p.Inventory = &inventory.Inventory{}
				}
				p.Inventory.Records = append(p.Inventory.Records, *s.Record)
			}
		}
		if got := shareOf(p); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
		p.Desired = nil
		if got := shareOf(p); got != shareNone {
			t.Errorf("%s, and the node goes: %d", test.name, got)
		}
	}
}

// tenant is a node with a widget that its controller has given up on, or not. The
// form is the text that the form had for it.
func tenant(name, value, form string, broken bool) *Node {
	o := widget(name)
	o.Policy.WaitForReady = true
	o.Template, o.Content["spec"] = form, map[string]any{"value": value, "form": form}
	if broken {
		o = stuck(o)
	}
	return node(name, o)
}

// rolling is a stage whose form lets so many nodes change at once.
func rolling(maxSkew int) *stage {
	s := newStage()
	s.options.Rollouts = map[FormKey]Rollout{webOfCRM(): {MaxSkew: maxSkew, Deadline: time.Hour}}
	return s
}

// values are what the tenants' objects have, by their names.
func (s *stage) values() string {
	var values []string
	for _, ref := range s.sorted() {
		spec, _ := s.objects[ref].Object["spec"].(map[string]any)
		values = append(values, fmt.Sprintf("%s=%v%v", ref.Name, spec["value"], spec["form"]))
	}
	return strings.Join(values, " ")
}

// ended are the nodes of a summary that did not end well.
func ended(sum *Summary) string {
	var nodes []string
	for _, n := range sum.Failed {
		nodes = append(nodes, n.Name+" "+string(n.Outcome))
	}
	slices.Sort(nodes)
	return strings.Join(nodes, ", ")
}

// TestRolloutBesideBroken: a broken node keeps its turn, and the others go on
// until broken ones have all turns. The next run does not push a broken form on.
func TestRolloutBesideBroken(t *testing.T) {
	s := rolling(2)
	all := func(form string, broken string) (nodes []*Node) {
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			nodes = append(nodes, tenant(name, "1", form, strings.Contains(broken, name)))
		}
		return nodes
	}
	if sum := mustApply(t, s, all("x", "")...); len(sum.Failed) > 0 {
		t.Fatalf("failed: %+v", sum.Failed)
	}
	step := func(what, form, broken, wantEnded, wantValues string) {
		t.Helper()
		sum := mustApply(t, s, all(form, broken)...)
		if got := ended(sum); got != wantEnded {
			t.Errorf("%s: ended %q, want %q", what, got, wantEnded)
		}
		if got := s.values(); got != wantValues {
			t.Errorf("%s: %s, want %s", what, got, wantValues)
		}
	}
	step("one is broken", "y", "a", "a not-ready", "a=1y b=1y c=1y d=1y e=1y")
	step("two are", "z", "bd", "b not-ready, d not-ready, e skipped", "a=1z b=1z c=1z d=1z e=1y")
	step("the same once more", "z", "bd", "b not-ready, d not-ready, e skipped", "a=1z b=1z c=1z d=1z e=1y")
	// One of them becomes well without a write.
	s.heal("b")
	step("one is well again", "z", "bd", "d not-ready", "a=1z b=1z c=1z d=1z e=1z")
}

// heal has the controller of a tenant's object succeed.
func (s *stage) heal(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ref := lynq.Ref{Group: "example.com", Kind: "Widget", Namespace: "ns", Name: name}
	o := s.objects[ref].DeepCopy()
	delete(o.Object, "status")
	s.put(ref, o)
}

// TestRolloutOfUnchangedNodes: nodes with nothing to write neither stop nor slow a
// rollout of others' changes, broken or not.
func TestRolloutOfUnchangedNodes(t *testing.T) {
	s := rolling(1)
	nodes := func(value string, more ...*Node) []*Node {
		return append([]*Node{tenant("a", "1", "x", true), tenant("b", value, "x", false)}, more...)
	}
	s.options.Rollouts = nil
	mustApply(t, s, nodes("1")...)
	s.options.Rollouts = rolling(1).options.Rollouts
	sum := mustApply(t, s, nodes("2", tenant("c", "1", "x", false))...)
	if got := ended(sum); got != "a not-ready" || s.values() != "a=1x b=2x c=1x" {
		t.Errorf("ended %q with %s", got, s.values())
	}
	// Who does not wait does not look at them.
	s.options.Wait = false
	sum = mustApply(t, s, nodes("3", tenant("c", "1", "x", false))...)
	if got := ended(sum); got != "" || s.values() != "a=1x b=3x c=1x" {
		t.Errorf("without waiting: ended %q with %s", got, s.values())
	}
}

// TestRolloutTurnsLent: of two nodes that wait for each other's turn one lends it,
// and goes on though the other has broken.
func TestRolloutTurnsLent(t *testing.T) {
	s := rolling(1)
	inTeam := configMap("in-team", "1")
	inTeam.Namespace, inTeam.Content["metadata"] = "team", map[string]any{"name": "in-team", "namespace": "team"}
	sum := mustApply(t, s, node("a", inTeam), node("b", namespace("team"), stuck(widget("w"))))
	if got := ended(sum); got != "b not-ready" || s.objects[inTeam.Ref] == nil {
		t.Errorf("ended %q", got)
	}
}

// webOfCRM is the form of most plans of tests.
func webOfCRM() FormKey {
	return FormKey{lynq.HubKey{Name: "crm"}, lynq.FormKey{Name: "web"}}
}
