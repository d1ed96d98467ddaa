package plan

import (
	"strings"
	"testing"

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
	const row, form, none, stuck = ShareRow, ShareForm, ShareNone, ShareStuck
	for _, test := range []struct {
		name  string
		turns Turns
		share Share
		want  Turn
	}{
		{"all turns are free", Turns{Most: 1}, form, TurnNow},
		{"one is free", Turns{Most: 2, changing: 1}, form, TurnNow},
		{"all are taken", Turns{Most: 2, changing: 2}, form, TurnLater},
		{"a new node waits for a turn too", Turns{Most: 2, changing: 2}, row, TurnLater},
		{"nothing to write", Turns{Most: 1, changing: 1, broken: broken("a")}, none, TurnNow},
		{"nothing to write, not ready", Turns{Most: 1, changing: 1}, stuck, TurnNow},
		{"one of two is broken", Turns{Most: 2, broken: broken("a")}, form, TurnNow},
		{"one is broken, the other taken", Turns{Most: 2, changing: 1, broken: broken("a")}, form, TurnLater},
		{"both are broken", Turns{Most: 2, broken: broken("a", "b")}, form, TurnNever},
		{"both are broken, for a row", Turns{Most: 2, broken: broken("a", "b")}, row, TurnNow},
		{"all are taken, for a row beside a broken one", Turns{Most: 1, changing: 1, broken: broken("a")}, row, TurnLater},
		{"broken ones beyond the limit", Turns{Most: 1, changing: 1, broken: broken("a", "b")}, form, TurnNever},
		{"both are broken, and it goes on", Turns{Most: 2, Continue: true, broken: broken("a", "b")}, form, TurnNow},
		{"one of before is waited for, and it goes on", Turns{Most: 1, Continue: true, pending: 1, stuck: broken("a")}, form, TurnNow},
		{"all are taken, and it would go on", Turns{Most: 1, Continue: true, changing: 1}, form, TurnLater},
		{"an earlier run's node is not ready yet", Turns{Most: 1, pending: 1}, form, TurnLater},
		{"it is none of a new tenant's business", Turns{Most: 1, pending: 1}, row, TurnNow},
		{"an earlier run's node is broken", Turns{Most: 1, stuck: broken("a")}, form, TurnNever},
		{"nor is that", Turns{Most: 1, stuck: broken("a")}, row, TurnNow},
		{"one broken then, one now", Turns{Most: 2, stuck: broken("a"), broken: broken("b")}, form, TurnNever},
		{"one broken then, one changing", Turns{Most: 2, stuck: broken("a"), changing: 1}, form, TurnLater},
		{"one broken then, one free", Turns{Most: 2, stuck: broken("a")}, form, TurnNow},
	} {
		if got := test.turns.Ask(test.share); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestTurnsOfNodes: a node gives its turn back when it is ready, and keeps it when
// it is not.
func TestTurnsOfNodes(t *testing.T) {
	a, b := NodeKey{"ns", "a"}, NodeKey{"ns", "b"}
	turns := Turns{Most: 2}
	turns.Take(ShareStuck)
	turns.Take(ShareForm)
	turns.End(ShareForm, a, true, "done")
	if got := turns.Ask(ShareForm); got != TurnNow {
		t.Errorf("after a ready node: %d", got)
	}
	turns.Take(ShareRow)
	turns.End(ShareRow, NodeKey{"ns", "row"}, false, "failed") // no matter of the rollout
	turns.Take(ShareForm)
	turns.End(ShareForm, b, false, "conflicted")
	if got := turns.Ask(ShareForm); got != TurnLater {
		t.Errorf("beside a broken one and one of before: %d", got)
	}
	turns.End(ShareStuck, a, false, "not-ready")
	if got := turns.Ask(ShareForm); got != TurnNever {
		t.Errorf("beside two broken ones: %d", got)
	}
	if got, want := turns.Why(), "the rollout of the form stopped: node a is not-ready, node b is conflicted"; got != want {
		t.Errorf("why: %s, want %s", got, want)
	}
	for _, name := range []string{"c", "d", "e"} {
		turns.End(ShareForm, NodeKey{"ns", name}, false, "failed")
	}
	if got := turns.Why(); !strings.HasSuffix(got, "node c is failed, and 2 more") {
		t.Errorf("why: %s", got)
	}
}

func TestShareOf(t *testing.T) {
	object := func(id, template string) *Object {
		policy := lynq.DefaultPolicy()
		return &Object{Ref: lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: id}, ID: id, Template: template, Policy: &policy}
	}
	record := func(id, template string, ready bool) *inventory.Entry {
		return &inventory.Entry{Ref: object(id, "").Ref, ID: id, UID: "u", Template: template, Ready: ready}
	}
	patient := object("a", "v1")
	patient.Policy.WaitForReady = false
	for _, test := range []struct {
		name  string
		steps []Step
		want  Share
	}{
		{"nothing changed", []Step{{Action: ActionKeep, Object: object("a", "v1"), Entry: record("a", "v1", true)}}, ShareNone},
		{"not ready since it was written", []Step{{Action: ActionKeep, Object: object("a", "v1"), Entry: record("a", "v1", false)}}, ShareStuck},
		{"not ready, and not waited for", []Step{{Action: ActionKeep, Object: patient, Entry: record("a", "v1", false)}}, ShareNone},
		{"not ready, and left out", []Step{{Action: ActionKeep, Reason: ReasonLeftOut, Object: object("a", "v1"), Entry: record("a", "v1", false)}}, ShareNone},
		{"not ready, and not yet written as the form has it", []Step{
			{Action: ActionKeep, Object: object("a", "v2"), Entry: record("a", "v1", false)},
		}, ShareNone},
		{"a conflict", []Step{{Action: ActionBlock, Object: object("a", "v1"), Entry: record("a", "v1", false)}}, ShareNone},
		{"new", []Step{{Action: ActionCreate, Object: object("a", "v1")}}, ShareRow},
		{"the row changed", []Step{{Action: ActionUpdate, Object: object("a", "v1"), Entry: record("a", "v1", true)}}, ShareRow},
		{"somebody changed it", []Step{{Action: ActionUpdate, Object: object("a", "v1"), Entry: record("a", "v1", false)}}, ShareRow},
		{"the form changed", []Step{{Action: ActionUpdate, Object: object("a", "v2"), Entry: record("a", "v1", true)}}, ShareForm},
		{"the form changed another object", []Step{
			{Action: ActionKeep, Object: object("a", "v2"), Entry: record("a", "v1", true)},
			{Action: ActionUpdate, Object: object("b", "v1"), Entry: record("b", "v1", true)},
		}, ShareForm},
		{"the form has one more", []Step{
			{Action: ActionKeep, Object: object("a", "v1"), Entry: record("a", "v1", true)},
			{Action: ActionCreate, Object: object("b", "v1")},
		}, ShareForm},
		{"the form has one less", []Step{
			{Action: ActionKeep, Object: object("a", "v1"), Entry: record("a", "v1", true)},
			{Action: ActionDelete, Entry: record("b", "v1", true)},
		}, ShareForm},
		{"a record that does not know", []Step{{Action: ActionUpdate, Object: object("a", "v2"), Entry: record("a", "", true)}}, ShareRow},
	} {
		p := &NodePlan{Desired: &Node{}, Steps: test.steps}
		for _, s := range test.steps {
			if s.Entry != nil {
				if p.Inventory == nil {
					p.Inventory = &inventory.Inventory{}
				}
				p.Inventory.Entries = append(p.Inventory.Entries, *s.Entry)
			}
		}
		if got := ShareOf(p, true); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
		if got, fresh := ShareOf(p, false), test.name == "new"; (got == ShareForm) != (fresh || test.want == ShareForm) {
			t.Errorf("%s, of a form none of whose nodes was ready: %d", test.name, got)
		}
		p.Desired = nil
		if got := ShareOf(p, true); got != ShareNone {
			t.Errorf("%s, and the node goes: %d", test.name, got)
		}
	}
}
