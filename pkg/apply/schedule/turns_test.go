package schedule

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestTurns checks which nodes may begin to change. No further node does while maxSkew
// nodes aren't ready. Nodes without writes need no turn.
func TestTurns(t *testing.T) {
	broken := func(names ...string) (nodes []lynq.NodeKey) {
		for _, name := range names {
			nodes = append(nodes, lynq.NodeKey{Namespace: "ns", Name: name})
		}
		return nodes
	}
	const row, form, none, stuck = ShareRow, ShareForm, ShareNone, ShareStuck
	for _, test := range []struct {
		name  string
		turns turns
		share Share
		want  Turn
	}{
		{"all turns are free", turns{Most: 1}, form, TurnNow},
		{"one is free", turns{Most: 2, changing: 1}, form, TurnNow},
		{"all are taken", turns{Most: 2, changing: 2}, form, TurnLater},
		{"a new node waits for a turn too", turns{Most: 2, changing: 2}, row, TurnLater},
		{"nothing to write", turns{Most: 1, changing: 1, broken: broken("a")}, none, TurnNow},
		{"nothing to write, not ready", turns{Most: 1, changing: 1}, stuck, TurnNow},
		{"one of two is broken", turns{Most: 2, broken: broken("a")}, form, TurnNow},
		{"one is broken, the other taken", turns{Most: 2, changing: 1, broken: broken("a")}, form, TurnLater},
		{"both are broken", turns{Most: 2, broken: broken("a", "b")}, form, TurnNever},
		{"both are broken, for a row", turns{Most: 2, broken: broken("a", "b")}, row, TurnNow},
		{"all are taken, for a row beside a broken one", turns{Most: 1, changing: 1, broken: broken("a")}, row, TurnLater},
		{"broken ones beyond the limit", turns{Most: 1, changing: 1, broken: broken("a", "b")}, form, TurnNever},
		{"both are broken, and it goes on", turns{Most: 2, Continue: true, broken: broken("a", "b")}, form, TurnNow},
		{"one of before is waited for, and it goes on", turns{Most: 1, Continue: true, pending: 1, stuck: broken("a")}, form, TurnNow},
		{"all are taken, and it would go on", turns{Most: 1, Continue: true, changing: 1}, form, TurnLater},
		{"an earlier run's node is not ready yet", turns{Most: 1, pending: 1}, form, TurnLater},
		{"it is none of a new tenant's business", turns{Most: 1, pending: 1}, row, TurnNow},
		{"an earlier run's node is broken", turns{Most: 1, stuck: broken("a")}, form, TurnNever},
		{"nor is that", turns{Most: 1, stuck: broken("a")}, row, TurnNow},
		{"one broken then, one now", turns{Most: 2, stuck: broken("a"), broken: broken("b")}, form, TurnNever},
		{"one broken then, one changing", turns{Most: 2, stuck: broken("a"), changing: 1}, form, TurnLater},
		{"one broken then, one free", turns{Most: 2, stuck: broken("a")}, form, TurnNow},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.turns.Ask(test.share); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}

// TestTurnsOfNodes checks that a node returns its turn when it is ready, and keeps it
// otherwise.
func TestTurnsOfNodes(t *testing.T) {
	a, b := lynq.NodeKey{Namespace: "ns", Name: "a"}, lynq.NodeKey{Namespace: "ns", Name: "b"}
	turns := turns{Most: 2}
	turns.Take(ShareStuck)
	turns.Take(ShareForm)
	turns.End(ShareForm, a, true)
	if got := turns.Ask(ShareForm); got != TurnNow {
		t.Errorf("after a ready node: %d", got)
	}
	turns.Take(ShareRow)
	turns.End(ShareRow, lynq.NodeKey{Namespace: "ns", Name: "row"}, false) // it doesn't matter to the rollout
	turns.Take(ShareForm)
	turns.End(ShareForm, b, false)
	if got := turns.Ask(ShareForm); got != TurnLater {
		t.Errorf("beside a broken one and one of before: %d", got)
	}
	turns.End(ShareStuck, a, false)
	if got := turns.Ask(ShareForm); got != TurnNever {
		t.Errorf("beside two broken ones: %d", got)
	}
	if got, want := turns.Why("web"), "the rollout of form web stopped after 2 failed nodes (a, b)"; got != want {
		t.Errorf("why: %s, want %s", got, want)
	}
	for _, name := range []string{"c", "d", "e"} {
		turns.End(ShareForm, lynq.NodeKey{Namespace: "ns", Name: name}, false)
	}
	if got := turns.Why("web"); !strings.HasSuffix(got, "after 5 failed nodes (a, b, c, and 2 more)") {
		t.Errorf("why: %s", got)
	}
}

func TestShareOf(t *testing.T) {
	object := func(id, template string) *plan.Object {
		policy := lynq.DefaultPolicy()
		return &plan.Object{Ref: lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: id}, ID: id, Template: template, Policy: &policy}
	}
	record := func(id, template string, ready bool) *inventory.Entry {
		return &inventory.Entry{Ref: object(id, "").Ref, ID: id, UID: "u", Template: template, Ready: ready}
	}
	patient := object("a", "v1")
	patient.Policy.Unwaited = true
	for _, test := range []struct {
		name  string
		steps []plan.Step
		want  Share
	}{
		{"nothing changed", []plan.Step{{Action: plan.ActionKeep, Object: object("a", "v1"), Entry: record("a", "v1", true)}}, ShareNone},
		{"not ready since it was written", []plan.Step{{Action: plan.ActionKeep, Object: object("a", "v1"), Entry: record("a", "v1", false)}}, ShareStuck},
		{"not ready, and not waited for", []plan.Step{{Action: plan.ActionKeep, Object: patient, Entry: record("a", "v1", false)}}, ShareNone},
		{"not ready, and left out", []plan.Step{{Action: plan.ActionKeep, Reason: plan.ReasonLeftOut, Object: object("a", "v1"), Entry: record("a", "v1", false)}}, ShareNone},
		{"not ready, and not yet written as the form has it", []plan.Step{
			{Action: plan.ActionKeep, Object: object("a", "v2"), Entry: record("a", "v1", false)},
		}, ShareNone},
		{"a conflict", []plan.Step{{Action: plan.ActionBlock, Object: object("a", "v1"), Entry: record("a", "v1", false)}}, ShareNone},
		{"new", []plan.Step{{Action: plan.ActionCreate, Object: object("a", "v1")}}, ShareRow},
		{"the row changed", []plan.Step{{Action: plan.ActionUpdate, Object: object("a", "v1"), Entry: record("a", "v1", true)}}, ShareRow},
		{"somebody changed it", []plan.Step{{Action: plan.ActionUpdate, Object: object("a", "v1"), Entry: record("a", "v1", false)}}, ShareRow},
		{"the form changed", []plan.Step{{Action: plan.ActionUpdate, Object: object("a", "v2"), Entry: record("a", "v1", true)}}, ShareForm},
		{"the form changed another object", []plan.Step{
			{Action: plan.ActionKeep, Object: object("a", "v2"), Entry: record("a", "v1", true)},
			{Action: plan.ActionUpdate, Object: object("b", "v1"), Entry: record("b", "v1", true)},
		}, ShareForm},
		{"the form has one more", []plan.Step{
			{Action: plan.ActionKeep, Object: object("a", "v1"), Entry: record("a", "v1", true)},
			{Action: plan.ActionCreate, Object: object("b", "v1")},
		}, ShareForm},
		{"the form has one less", []plan.Step{
			{Action: plan.ActionKeep, Object: object("a", "v1"), Entry: record("a", "v1", true)},
			{Action: plan.ActionDelete, Entry: record("b", "v1", true)},
		}, ShareForm},
		{"a record that does not know", []plan.Step{{Action: plan.ActionUpdate, Object: object("a", "v2"), Entry: record("a", "", true)}}, ShareRow},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &plan.NodePlan{Desired: &plan.Node{}, Steps: test.steps}
			for _, s := range test.steps {
				if s.Entry != nil {
					if p.Inventory == nil {
						p.Inventory = &inventory.Inventory{}
					}
					p.Inventory.Entries = append(p.Inventory.Entries, *s.Entry)
				}
			}
			if got := shareOf(p, true); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
			if got, fresh := shareOf(p, false), test.name == "new"; (got == ShareForm) != (fresh || test.want == ShareForm) {
				t.Errorf("of a form none of whose nodes was ready: %d", got)
			}
			p.Desired = nil
			if got := shareOf(p, true); got != ShareNone {
				t.Errorf("and the node goes: %d", got)
			}
		})
	}
}
