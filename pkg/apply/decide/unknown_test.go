package decide

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// TestUnknownIsLeftAsItIs checks that if lynqctl couldn't read an object of a node, the
// node has no step and fails with the cause. That holds for every entry and every desired
// state, and for nodes without a row.
func TestUnknownIsLeftAsItIs(t *testing.T) {
	cause := errors.New("secrets is forbidden")
	for _, at := range situations() {
		for _, p := range []lynq.Policy{lynq.DefaultPolicy(), {Lifecycle: lynq.Lifecycle{Creation: lynq.CreateOnce, Deletion: lynq.DeleteRetain, Conflict: lynq.ConflictForce}}} {
			for _, goes := range []string{"wanted", "dropped", "row gone", "deleted", "record deleted"} {
				in := scene(at, p)
				in.Observed.Live, in.Observed.Unknown = nil, map[lynq.Ref]error{in.Desired.Nodes[0].Objects[0].Ref: cause}
				recorded := len(in.Recorded.Inventories[0].Entries) > 0
				switch goes {
				case "dropped":
					in.Desired.Nodes[0].Objects = nil
				case "row gone":
					in.Desired.Nodes = nil
				case "deleted":
					in.Desired.Nodes, in.Scope.Delete = nil, map[lynq.NodeKey]bool{{Namespace: "ns", Name: "acme-web"}: true}
				case "record deleted":
					in.Recorded.Inventories[0].Deleting, in.Recorded.Inventories[0].Finalizer = true, true
				}
				if goes != "wanted" && !recorded {
					continue // it doesn't belong to the node
				}
				decided := Decide(in, Limits{AllowEmpty: true})
				if len(decided.Nodes) != 1 || len(decided.Refusals) > 0 {
					t.Fatalf("%s, %s: %+v", at, goes, decided)
				}
				n := decided.Nodes[0]
				if n.Desired == nil || !errors.Is(n.Desired.Failed, cause) || len(n.Steps) > 0 || n.Deleted {
					t.Errorf("%s, %s: %+v, want it left as it is", at, goes, n)
				}
				if !strings.Contains(n.Desired.Failed.Error(), "nothing of the node") {
					t.Errorf("%s, %s: it says %q", at, goes, n.Desired.Failed)
				}
			}
		}
	}
}

// TestUnknownThatDoesNotMatter checks that lynqctl needn't know objects that a selector
// leaves out or that the user gave up on. Nodes without such objects continue.
func TestUnknownThatDoesNotMatter(t *testing.T) {
	cause := errors.New("secrets is forbidden")
	for name, change := range map[string]func(*Input, lynq.Ref){
		"left out": func(in *Input, _ lynq.Ref) { in.Desired.Nodes[0].Objects[0].LeftOut = true },
		"narrowed": func(in *Input, _ lynq.Ref) { in.Desired.Nodes[0].Objects, in.Scope.Narrowed = nil, true },
		"given up": func(in *Input, ref lynq.Ref) {
			in.Desired.Nodes, in.Scope.Delete = nil, map[lynq.NodeKey]bool{{Namespace: "ns", Name: "acme-web"}: true}
			in.Options.GiveUp = map[lynq.Ref]error{ref: cause}
		},
		"another's": func(in *Input, _ lynq.Ref) {
			in.Observed.Unknown = map[lynq.Ref]error{{Kind: "Secret", Namespace: "ns", Name: "x"}: cause}
		},
		"no longer served, and dropped": func(in *Input, ref lynq.Ref) {
			in.Desired.Nodes[0].Objects = nil
			in.Observed.Unknown[ref] = &plan.UnservedError{Kind: "Secret"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := scene(ours, lynq.DefaultPolicy())
			ref := in.Desired.Nodes[0].Objects[0].Ref
			in.Observed.Live, in.Observed.Unknown = nil, map[lynq.Ref]error{ref: cause}
			change(in, ref)
			n := Decide(in, Limits{AllowEmpty: true}).Nodes[0]
			if n.Desired != nil && n.Desired.Failed != nil || len(n.Steps) != 1 {
				t.Errorf("%s: %+v", name, n)
				return
			}
			if s := n.Steps[0]; s.Action == plan.ActionDelete || name == "no longer served, and dropped" && (s.Action != plan.ActionSkip || s.Reason != plan.ReasonUnknown) {
				t.Errorf("%s: %s (%s)", name, s.Action, s.Reason)
			}
		})
	}
}

// TestUnknownGivesNothingAway checks that no other node takes an unreadable object over, or
// any other object of its node.
func TestUnknownGivesNothingAway(t *testing.T) {
	in := scene(ours, lynq.DefaultPolicy())
	ref := in.Desired.Nodes[0].Objects[0].Ref
	hidden := lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "hidden"}
	in.Recorded.Inventories[0].Entries = append(in.Recorded.Inventories[0].Entries, inventory.Entry{Ref: hidden, ID: "hidden", APIVersion: "v1", UID: "u2"})
	in.Observed.Unknown = map[lynq.Ref]error{hidden: errors.New("forbidden")}
	other := &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "other", Namespace: "ns", Name: "other-web"}, Objects: in.Desired.Nodes[0].Objects}
	for _, nodes := range [][]*plan.Node{{other}, {other, {NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: "ns", Name: "acme-web"}}}} {
		in.Desired.Nodes = nodes
		s := Decide(in, Limits{MaxDelete: limits.MaxDelete{Nodes: 1}}).Nodes[0].Steps[0]
		if s.Object.Ref != ref || s.Action != plan.ActionBlock {
			t.Errorf("%s (%s) %s", s.Action, s.Reason, s.Message)
		}
	}
}

// TestGuardsAndUnknown checks that nodes that are kept because of unreadable objects don't
// count as deleted, and leave no room for more deletions.
func TestGuardsAndUnknown(t *testing.T) {
	input := func(unknown int, deleting bool) *Input {
		in := &Input{Hub: lynq.HubKey{Name: "crm"}, Desired: Desired{Forms: []lynq.FormKey{{Name: "web"}}, Active: 4}, Observed: plan.Observed{Unknown: map[lynq.Ref]error{}}}
		for i := range 8 {
			name := fmt.Sprintf("n%d-web", i)
			ref := lynq.Ref{Kind: "Secret", Namespace: "ns", Name: name}
			in.Recorded.Inventories = append(in.Recorded.Inventories, &inventory.Inventory{
				Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, Namespace: "ns", Name: name}, Entries: []inventory.Entry{{Ref: ref}},
				Deleting: deleting && i >= 4, Finalizer: true,
			})
			if i < 4 {
				in.Desired.Nodes = append(in.Desired.Nodes, &plan.Node{NodeID: lynq.NodeID{Form: lynq.FormKey{Name: "web"}, Namespace: "ns", Name: name}})
			} else if i < 4+unknown {
				in.Observed.Unknown[ref] = errors.New("forbidden")
			}
		}
		return in
	}
	for _, deleting := range []bool{false, true} {
		if r := Decide(input(1, deleting), Limits{MaxDelete: limits.DefaultMaxDelete()}).Refusals; len(r) != 1 || !strings.Contains(r[0].What, "3 of 7 nodes would be deleted") {
			t.Errorf("three go: %+v", r)
		}
		if r := Decide(input(2, deleting), Limits{MaxDelete: limits.MaxDelete{Nodes: 2}}).Refusals; len(r) != 0 {
			t.Errorf("two go: %+v", r)
		}
	}
	in := input(4, false)
	in.Desired.Nodes, in.Desired.Active = nil, 0
	for _, inv := range in.Recorded.Inventories {
		in.Observed.Unknown[inv.Entries[0].Ref] = errors.New("forbidden")
	}
	if p := Decide(in, Limits{}); len(p.Refusals) != 0 || p.Counts[plan.ActionDelete] != 0 {
		t.Errorf("none can go: %+v", p)
	}
}

// TestMisplaced checks that an entry with the wrong scope names no object, and the next
// write drops it. A desired object with the wrong scope fails its node.
func TestMisplaced(t *testing.T) {
	for _, namespaced := range []bool{false, true} {
		in := scene(vanished, lynq.DefaultPolicy())
		o := in.Desired.Nodes[0].Objects[0]
		in.Observed.Misplaced = map[lynq.Ref]*plan.ScopeError{o.Ref: {Object: o.Ref, Namespaced: namespaced}}
		n := Decide(in, Limits{}).Nodes[0]
		if scope := (*plan.ScopeError)(nil); !errors.As(n.Desired.Failed, &scope) || len(n.Steps) > 0 {
			t.Errorf("wanted: %+v", n)
		}
		in.Desired.Nodes[0].Objects = nil
		n = Decide(in, Limits{}).Nodes[0]
		if n.Desired.Failed != nil || len(n.Steps) != 1 || n.Steps[0].Action != plan.ActionRelease || !strings.HasPrefix(n.Steps[0].Message, "it can't exist: ") {
			t.Errorf("dropped: %+v", n)
		}
		in.Desired.Nodes = nil
		n = Decide(in, Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Nodes: 1}}).Nodes[0]
		if n.Desired != nil || n.Steps[0].Action != plan.ActionRelease {
			t.Errorf("row gone: %+v", n)
		}
	}
}
