package apply

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestContainersOfOtherNodes checks that lynqctl deletes a container after the objects of
// other nodes in it, in one run, however few nodes work at once.
func TestContainersOfOtherNodes(t *testing.T) {
	inside := func(name string, p lynq.DeletionPolicy) formObject {
		o := configMap(name, "1")
		o.Namespace, o.Content["metadata"] = "team", map[string]any{"name": name, "namespace": "team"}
		o.Policy.Deletion = p
		return o
	}
	for name, tt := range map[string]struct {
		container formObject
		others    []formObject
		survives  bool
	}{
		"a namespace":                {container: namespace("team"), others: []formObject{inside("one", lynq.DeleteDelete), inside("two", lynq.DeleteDelete)}},
		"a kind":                     {container: definition(), others: []formObject{widget("w"), widget("v")}},
		"a namespace, and it is all": {container: namespace("team")},
		"a namespace in which something is retained": {
			container: namespace("team"), others: []formObject{inside("one", lynq.DeleteDelete), inside("kept", lynq.DeleteRetain)}, survives: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, atOnce := range []int{1, 8} {
				for _, dryRun := range []bool{false, true} {
					s := newStage()
					nodes := []*plan.Node{node("a", tt.container), node("z")}
					for i, o := range tt.others {
						nodes = append(nodes, node(string(rune('b'+i)), o))
					}
					mustApply(t, s, nodes...)
					s.options.Concurrency, s.options.DryRun = atOnce, dryRun
					sum := mustApply(t, s, node("z"))
					if failed := len(sum.Failed) > 0; failed != tt.survives {
						t.Errorf("%s (%d at once, dry run: %t): %+v, want a failure: %t", name, atOnce, dryRun, sum.Failed, tt.survives)
					}
					if there := s.Objects[tt.container.Ref] != nil; there != (tt.survives || dryRun) {
						t.Errorf("%s (%d at once, dry run: %t): it exists: %t", name, atOnce, dryRun, there)
					}
				}
			}
		})
	}
}
