package plan

import (
	"errors"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestLoosens: a copy loses its owner with the inventory, and with the last object of its
// kind that the inventory lists.
func TestLoosens(t *testing.T) {
	ref := lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "acme"}
	copied := &tracking.Live{Ref: lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "copy"}}
	unlisted := []Unlisted{{Live: copied}}
	wanted := func(action Action, policy lynq.Policy) Step {
		return Step{Action: action, Object: &Object{Ref: ref, Policy: &policy}}
	}
	dropped := func(action Action) Step { return Step{Action: action, Entry: &inventory.Entry{Ref: ref}} }
	elsewhere := wanted(ActionKeep, lynq.Policy{})
	elsewhere.Object.Namespace = "other"
	for name, tt := range map[string]struct {
		p    NodePlan
		want int
	}{
		"it keeps another of the kind":    {NodePlan{Desired: &Node{}, Unlisted: unlisted, Steps: []Step{wanted(ActionKeep, lynq.Policy{}), dropped(ActionDelete)}}, 0},
		"it keeps one elsewhere":          {NodePlan{Desired: &Node{}, Unlisted: unlisted, Steps: []Step{elsewhere}}, 1},
		"it drops the last":               {NodePlan{Desired: &Node{}, Unlisted: unlisted, Steps: []Step{dropped(ActionDelete)}}, 1},
		"it purges the last":              {NodePlan{Desired: &Node{}, Unlisted: unlisted, Steps: []Step{wanted(ActionCreate, lynq.Policy{PurgeOrder: new(int)})}}, 1},
		"the last must stay":              {NodePlan{Desired: &Node{}, Unlisted: unlisted, Steps: []Step{dropped(ActionSkip)}}, 0},
		"a copy must stay":                {NodePlan{Desired: &Node{}, Unlisted: unlisted, Steps: []Step{{Action: ActionBlock, Live: &tracking.Live{Ref: ref}}}}, 0},
		"it leaves":                       {NodePlan{Unlisted: unlisted, Steps: []Step{dropped(ActionDelete)}}, 1},
		"it leaves, and an object stays":  {NodePlan{Unlisted: unlisted, Steps: []Step{dropped(ActionBlock)}}, 0},
		"its inventory is replaced":       {NodePlan{Desired: &Node{}, Replacement: &Replacement{Unlisted: []*tracking.Live{copied}}, Steps: []Step{wanted(ActionKeep, lynq.Policy{})}}, 1},
		"nobody has copied anything here": {NodePlan{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(tt.p.Loosens()); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}

// TestLeavingInventories checks for which kinds a run looks for copies: those of which the inventory
// may lose the last object. An unchanged node has none.
func TestLeavingInventories(t *testing.T) {
	secret, claim := lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "acme"}, lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "ns", Name: "acme"}
	inv := &inventory.Inventory{
		UID: "inv", Node: lynq.NodeID{Namespace: "ns", Name: "acme-web"},
		Entries: []inventory.Entry{{Ref: secret}, {Ref: claim}, {Ref: lynq.Ref{Kind: "Secret", Namespace: "other", Name: "acme"}}},
	}
	onlyCopy := inv.Clone()
	onlyCopy.UID = ""
	wanted := func(ref lynq.Ref, policy lynq.Policy) Step {
		return Step{Action: ActionKeep, Object: &Object{Ref: ref, Policy: &policy}, Entry: &inventory.Entry{Ref: ref}}
	}
	left := func(ref lynq.Ref, a Action) Step { return Step{Action: a, Entry: &inventory.Entry{Ref: ref}} }
	hook := Step{Action: ActionCreate, Object: &Object{Ref: lynq.Ref{Kind: "Job", Namespace: "ns", Name: "bye"}, Policy: &lynq.Policy{Lifecycle: lynq.Lifecycle{RunOn: lynq.RunOnDelete}}}}
	blocked := hook
	blocked.Action = ActionSkip
	for name, tt := range map[string]struct {
		p    NodePlan
		want string
	}{
		"unchanged":                      {NodePlan{Desired: &Node{}, Steps: []Step{wanted(secret, lynq.Policy{}), wanted(claim, lynq.Policy{})}}, ""},
		"it drops the last of a kind":    {NodePlan{Desired: &Node{}, Steps: []Step{wanted(secret, lynq.Policy{}), left(claim, ActionDelete)}}, "PersistentVolumeClaim"},
		"it purges the last of a kind":   {NodePlan{Desired: &Node{}, Steps: []Step{wanted(secret, lynq.Policy{PurgeOrder: new(int)}), wanted(claim, lynq.Policy{})}}, "Secret"},
		"it keeps one past its form":     {NodePlan{Desired: &Node{}, Steps: []Step{wanted(secret, lynq.Policy{}), left(claim, ActionSkip)}}, ""},
		"it leaves":                      {NodePlan{Steps: []Step{left(secret, ActionDelete), left(claim, ActionCollect)}}, "Secret PersistentVolumeClaim"},
		"it leaves after a hook":         {NodePlan{Steps: []Step{hook, left(secret, ActionDelete), left(claim, ActionDelete)}}, "Secret PersistentVolumeClaim"},
		"it leaves without its hook":     {NodePlan{Steps: []Step{blocked, left(secret, ActionDelete), left(claim, ActionDelete)}}, "Secret PersistentVolumeClaim"},
		"it leaves, and an object stays": {NodePlan{Steps: []Step{left(secret, ActionDelete), left(claim, ActionSkip)}}, ""},
		"its inventory is replaced":      {NodePlan{Desired: &Node{}, Replacement: &Replacement{}, Steps: []Step{wanted(secret, lynq.Policy{}), wanted(claim, lynq.Policy{})}}, "Secret PersistentVolumeClaim"},
		"the run keeps it as it is":      {NodePlan{Desired: &Node{Failed: errors.New("it doesn't render")}}, ""},
		"only its copy exists":           {NodePlan{Inventory: onlyCopy}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.p.Inventory == nil {
				tt.p.Inventory = inv
			}
			var kinds []string
			for _, leaving := range (&Plan{Nodes: []NodePlan{tt.p}}).LeavingInventories() {
				if len(leaving.Entries) == 0 {
					t.Errorf("it looks for copies of nothing")
				}
				for _, e := range leaving.Entries {
					if e.Namespace != "ns" {
						t.Errorf("%s is in another namespace", e.Ref)
					}
					kinds = append(kinds, e.Kind)
				}
			}
			if got := strings.Join(kinds, " "); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestLeavingInventoriesOfNewNode checks that a run looks for no copies of a node without an inventory.
func TestLeavingInventoriesOfNewNode(t *testing.T) {
	if got := (&Plan{Nodes: []NodePlan{{Desired: &Node{}}}}).LeavingInventories(); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// TestExcludedUnlisted checks that an excluded copy keeps its owner, and that dry runs tell so.
func TestExcludedUnlisted(t *testing.T) {
	free, held := Unlisted{}, Unlisted{Excluded: "it is excluded (in/hub.yaml:7)"}
	if err := free.Stays(); err != nil || free.Tells() != UnlistedWarning {
		t.Errorf("%v, %s", err, free.Tells())
	}
	want := "its owner is the node's inventory, which doesn't list it, and it must not change: it is excluded (in/hub.yaml:7) (remove the rule or the owner reference, then run again)"
	if err := held.Stays(); err == nil || err.Error() != want || held.Tells() != want {
		t.Errorf("%v, %s", err, held.Tells())
	}
}
