package decide

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// givenUp says whether, and how, the user gave up on an object.
type givenUp string

const (
	kept      givenUp = ""
	named     givenUp = "given up"
	unlooked  givenUp = "given up, and it could not be looked at"
	unlookErr         = "its kind is not served"
)

// goesAs is the table of decisions about a recorded object if the user deletes its node.
func goesAs(at situation, p lynq.Policy, c plan.Cascade, g givenUp) verdict {
	switch {
	case at == vanished && g == unlooked: // the garbage collector may delete it with the inventory
		return verdict{plan.ActionSkip, plan.ReasonUnknown}
	case at == vanished:
		return verdict{plan.ActionRelease, plan.ReasonAlreadyGone}
	case g != kept:
		return verdict{plan.ActionOrphan, plan.ReasonGivenUp}
	case at == recreated: // its uid isn't the recorded one
		return verdict{plan.ActionRelease, plan.ReasonTakenOver}
	case at == handsOff && p.Deletion != lynq.DeleteRetain && p.Deletion != lynq.DeleteRetainOnDelete: // it must not be deleted with the inventory
		return verdict{plan.ActionTrack, plan.ReasonUnmanaged}
	case at == handsOff:
		return verdict{plan.ActionSkip, plan.ReasonUnmanaged}
	case c == plan.CascadeOrphan || p.Deletion == lynq.DeleteRetain || p.Deletion == lynq.DeleteRetainOnDelete:
		return verdict{plan.ActionOrphan, plan.ReasonNodeDeleted}
	case c == plan.CascadeBackground && at != policyMoved: // labels track that one
		return verdict{plan.ActionCollect, plan.ReasonNodeDeleted}
	}
	return verdict{plan.ActionDelete, plan.ReasonNodeDeleted}
}

// TestDeletedNode decides every combination of deletion policy, cascade and
// giving up, in every situation.
func TestDeletedNode(t *testing.T) {
	recorded := []situation{vanished, ours, drift, formChanged, policyMoved, recreated, unconfirmed, goingAway, handsOff}
	for _, deletion := range lynq.DeletionPolicies() {
		for _, cascade := range []plan.Cascade{plan.CascadeOrdered, plan.CascadeBackground, plan.CascadeForeground, plan.CascadeOrphan} {
			for _, g := range []givenUp{kept, named, unlooked} {
				for _, at := range recorded {
					t.Run(fmt.Sprintf("%s/%s/%s/%s", deletion, cascade, g, at), func(t *testing.T) {
						p := lynq.DefaultPolicy()
						p.Deletion = deletion
						in := scene(at, p)
						in.Desired.Nodes, in.Scope.Delete, in.Options.Cascade, in.Desired.Active = nil, map[lynq.NodeKey]bool{acme: true}, cascade, 0
						ref := in.Recorded.Inventories[0].Entries[0].Ref
						switch g {
						case named:
							in.Options.GiveUp = map[lynq.Ref]error{ref: nil}
						case unlooked:
							in.Options.GiveUp = map[lynq.Ref]error{ref: errors.New(unlookErr)}
						}
						decided := Decide(in, Limits{AllowEmpty: true})
						if len(decided.Refusals) > 0 || len(decided.Nodes) != 1 || !decided.Nodes[0].Deleted || len(decided.Nodes[0].Steps) != 1 {
							t.Fatalf("plan %+v", decided)
						}
						s := decided.Nodes[0].Steps[0]
						if got, want := (verdict{s.Action, s.Reason}), goesAs(at, p, cascade, g); got != want {
							t.Errorf("got %v (%s), want %v", got, s.Message, want)
						}
					})
				}
			}
		}
	}
}

// TestGivenUpAndTakenOver checks that lynqctl doesn't mark a given-up object as an orphan
// if another client took it over.
func TestGivenUpAndTakenOver(t *testing.T) {
	in := scene(ours, lynq.DefaultPolicy())
	ref := in.Desired.Nodes[0].Objects[0].Ref
	in.Desired.Nodes, in.Scope.Delete, in.Options.GiveUp = nil, map[lynq.NodeKey]bool{acme: true}, map[lynq.Ref]error{ref: nil}
	in.Observed.Live[ref].Few = &tracking.Rare{Foreign: "Kustomization apps"}
	if s := Decide(in, Limits{}).Nodes[0].Steps[0]; s.Action != plan.ActionRelease || s.Reason != plan.ReasonGivenUp || s.Message != "it is now of Kustomization apps" {
		t.Errorf("%s %s %q", s.Action, s.Reason, s.Message)
	}
}

// TestCollected checks that lynqctl leaves an object to the garbage collector only if that
// deletes it in the same way.
func TestCollected(t *testing.T) {
	record := func(kind, name string, order int) inventory.Entry {
		r := lynq.Ref{Kind: kind, Namespace: "ns", Name: name}
		if kind == "Namespace" {
			r.Namespace = ""
		}
		return inventory.Entry{Ref: r, ID: name, APIVersion: "v1", UID: name, Order: order, Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete}}
	}
	actions := func(owners []types.UID, entries ...inventory.Entry) string {
		in := &Input{
			Hub:      lynq.HubKey{Name: "crm"},
			Scope:    Scope{Delete: map[lynq.NodeKey]bool{acme: true}},
			Options:  Options{Cascade: plan.CascadeBackground},
			Observed: plan.Observed{Live: map[lynq.Ref]*tracking.Live{}},
			Recorded: Recorded{Inventories: []*inventory.Inventory{{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: acme.Namespace, Name: acme.Name}, UID: "inv", Entries: entries}}},
		}
		for i, r := range entries {
			in.Observed.Live[r.Ref] = &tracking.Live{Ref: r.Ref, Hub: "crm", UID: types.UID(r.UID), PartOf: inventory.ID("ns", inventory.Name(acme.Name)), Owners: []types.UID{"inv"}}
			if i == 0 {
				in.Observed.Live[r.Ref].Owners = owners
			}
		}
		var words []string
		for _, s := range Decide(in, Limits{AllowEmpty: true}).Nodes[0].Steps {
			words = append(words, s.Entry.Name+" "+string(s.Action))
		}
		return strings.Join(words, ", ")
	}
	ours := []types.UID{"inv"}
	later := func(r inventory.Entry, wave int) inventory.Entry {
		r.DeleteOrder = wave
		return r
	}
	for what, tt := range map[string]struct{ got, want string }{
		"owned":                 {actions(ours, record("Secret", "a", 0), record("Secret", "b", 0)), "a collect, b collect"},
		"one alone, of order 3": {actions(ours, record("Secret", "a", 3)), "a collect"},
		"dependencies":          {actions(ours, record("Secret", "a", 0), record("Secret", "b", 1)), "b delete, a delete"},
		"a second owner":        {actions([]types.UID{"inv", "other"}, record("Secret", "a", 0), record("Secret", "b", 0)), "a delete, b collect"},
		"tracked by labels":     {actions(nil, record("Secret", "a", 0), record("Secret", "b", 0)), "a delete, b collect"},
		"waves":                 {actions(ours, later(record("Secret", "a", 1), 1), record("Secret", "b", 1)), "b delete, a delete"},
		"one wave":              {actions(ours, later(record("Secret", "a", 0), 1), later(record("Secret", "b", 0), 1)), "a collect, b collect"},
		"a container":           {actions(nil, record("Namespace", "a", 0), record("Secret", "b", 0)), "a delete, b delete"},
	} {
		t.Run(what, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("%s: %s, want %s", what, tt.got, tt.want)
			}
		})
	}
}

// TestDeletedByHand checks the four states of an inventory and its finalizer, for each kind
// of run.
func TestDeletedByHand(t *testing.T) {
	for _, tt := range []struct {
		name                string
		deleting, finalizer bool
		change              func(*Input)
		want                string
	}{
		{"in peace", false, true, nil, "kept"},
		{"without a finalizer", false, false, nil, "kept"},
		{"deleted", true, true, nil, "restored"},
		{"deleted, and held by somebody else", true, false, nil, "fails: inventory ns/lynqnode-acme-web is being deleted, and a finalizer blocks that (run again when it is deleted)"},
		{"deleted; a selector", true, true, func(in *Input) { in.Scope.Narrowed = true }, "restored"},
		{"deleted; the row is gone", true, true, func(in *Input) { in.Desired.Nodes = nil }, "goes"},
		{"deleted, and held by somebody else; the row is gone", true, false, func(in *Input) { in.Desired.Nodes = nil }, "nothing"},
		{"deleted; the form is not in this run", true, true, func(in *Input) { in.Desired.Nodes, in.Desired.Forms = nil, []lynq.FormKey{{Name: "queue"}} }, "nothing"},
		{"deleted; another node is named", true, true, func(in *Input) { in.Desired.Nodes, in.Scope.Only = nil, map[string]bool{"other": true} }, "nothing"},
		{"deleted; it is named", true, true, func(in *Input) { in.Scope.Only = map[string]bool{"acme-web": true} }, "restored"},
		{"deleted; the row does not render", true, true, func(in *Input) { in.Desired.Nodes[0].Failed = errors.New("no") }, "fails: no"},
		{"deleted, and held by somebody else; to be deleted", true, false, func(in *Input) { in.Desired.Nodes, in.Scope.Delete = nil, map[lynq.NodeKey]bool{acme: true} }, "goes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := scene(ours, lynq.DefaultPolicy())
			in.Recorded.Inventories[0].Deleting, in.Recorded.Inventories[0].Finalizer = tt.deleting, tt.finalizer
			if tt.change != nil {
				tt.change(in)
			}
			got := "nothing"
			if decided := Decide(in, Limits{AllowEmpty: true, MaxDelete: limits.DefaultMaxDelete()}); len(decided.Nodes) > 0 {
				got = fate(&decided.Nodes[0])
			}
			if got != tt.want {
				t.Errorf("%s: it %s, want %s", tt.name, got, tt.want)
			}
		})
	}
}

// fate describes in words what a plan does to a node.
func fate(n *plan.NodePlan) string {
	switch {
	case n.Desired == nil && n.Deleted:
		return "goes"
	case n.Desired == nil:
		return "goes, but not by hand"
	case n.Desired.Failed != nil:
		return "fails: " + n.Desired.Failed.Error()
	case n.Replacement != nil:
		return "restored"
	}
	return "kept"
}

// TestGuardsByHand checks that guards count a deleted inventory as a deletion, and a
// deleted hub record as the deletion of all nodes.
func TestGuardsByHand(t *testing.T) {
	in := func(byHand int) *Input {
		in := &Input{Hub: lynq.HubKey{Namespace: "ns", Name: "crm"}, Desired: Desired{Forms: []lynq.FormKey{{Name: "web"}}, Active: 3 - byHand}}
		for i := range 3 {
			key := lynq.NodeKey{Namespace: "ns", Name: fmt.Sprintf("n%d-web", i)}
			if i >= byHand {
				in.Desired.Nodes = append(in.Desired.Nodes, &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: key.Name, Namespace: key.Namespace, Name: key.Name}})
			}
			in.Recorded.Inventories = append(in.Recorded.Inventories, &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: key.Name, Namespace: "ns", Name: key.Name},
				Deleting: i < byHand, Finalizer: true})
		}
		return in
	}
	restored := in(2)
	for _, inv := range restored.Recorded.Inventories[:2] {
		restored.Desired.Nodes = append(restored.Desired.Nodes, &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: inv.Node.UID, Namespace: inv.Node.Namespace, Name: inv.Node.Name}})
	}
	gone := in(3)
	gone.Recorded.HubDeleting = true
	all := in(0)
	all.Desired.Nodes, all.Desired.Active, all.Scope.Delete = nil, 0, map[lynq.NodeKey]bool{{Namespace: "ns", Name: "n0-web"}: true, {Namespace: "ns", Name: "n1-web"}: true, {Namespace: "ns", Name: "n2-web"}: true}
	for name, tt := range map[string]struct {
		in     *Input
		limits Limits
		guard  plan.Guard
		what   string
	}{
		"one of three":     {in(1), Limits{MaxDelete: limits.DefaultMaxDelete()}, "", ""},
		"two of three":     {in(2), Limits{MaxDelete: limits.DefaultMaxDelete()}, plan.GuardMaxDelete, "somebody deleted 2 inventories, and their rows are inactive or missing: 2 of 3 nodes would be deleted (n0-web, n1-web), the limit is 1 (--max-delete=25%)"},
		"two, and allowed": {in(2), Limits{MaxDelete: limits.MaxDelete{Nodes: 2}}, "", ""},
		"rows want them":   {restored, Limits{MaxDelete: limits.DefaultMaxDelete()}, "", ""},
		"the hub":          {gone, Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Percent: 100}}, plan.GuardDeleting, "the hub's record was deleted, ConfigMap ns/lynqhub-crm: its deletion deletes all of its 3 nodes"},
		"all, by delete":   {all, Limits{AllowEmpty: true}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got plan.Refusal
			if r := Decide(tt.in, tt.limits).Refusals; len(r) > 0 {
				got = r[0]
			}
			if got.Guard != tt.guard || got.What != tt.what {
				t.Errorf("%s: refused by %q: %s, want %q: %s", name, got.Guard, got.What, tt.guard, tt.what)
			}
		})
	}
}

var acme = lynq.NodeKey{Namespace: "ns", Name: "acme-web"}
