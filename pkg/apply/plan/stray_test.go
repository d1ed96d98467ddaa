package plan

import (
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
	stray := []Stray{{Live: copied}}
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
		"it keeps another of the kind":    {NodePlan{Desired: &Node{}, Strays: stray, Steps: []Step{wanted(ActionKeep, lynq.Policy{}), dropped(ActionDelete)}}, 0},
		"it keeps one elsewhere":          {NodePlan{Desired: &Node{}, Strays: stray, Steps: []Step{elsewhere}}, 1},
		"it drops the last":               {NodePlan{Desired: &Node{}, Strays: stray, Steps: []Step{dropped(ActionDelete)}}, 1},
		"it purges the last":              {NodePlan{Desired: &Node{}, Strays: stray, Steps: []Step{wanted(ActionCreate, lynq.Policy{PurgeOrder: new(int)})}}, 1},
		"the last must stay":              {NodePlan{Desired: &Node{}, Strays: stray, Steps: []Step{dropped(ActionSkip)}}, 0},
		"it leaves":                       {NodePlan{Strays: stray, Steps: []Step{dropped(ActionDelete)}}, 1},
		"it leaves, and an object stays":  {NodePlan{Strays: stray, Steps: []Step{dropped(ActionBlock)}}, 0},
		"its inventory is replaced":       {NodePlan{Desired: &Node{}, Replacement: &Replacement{Strays: []*tracking.Live{copied}}, Steps: []Step{wanted(ActionKeep, lynq.Policy{})}}, 1},
		"nobody has copied anything here": {NodePlan{}, 0},
	} {
		if got := len(tt.p.Loosens()); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// TestExcludedStray checks that an excluded copy keeps its owner, and that dry runs tell so.
func TestExcludedStray(t *testing.T) {
	free, held := Stray{}, Stray{Excluded: "it is excluded (in/hub.yaml:7)"}
	if err := free.Stays(); err != nil || free.Tells() != StrayWarning {
		t.Errorf("%v, %s", err, free.Tells())
	}
	want := "its owner is the node's inventory, which doesn't list it, and it must not change: it is excluded (in/hub.yaml:7) (remove the rule or the owner reference, then run again)"
	if err := held.Stays(); err == nil || err.Error() != want || held.Tells() != want {
		t.Errorf("%v, %s", err, held.Tells())
	}
}
