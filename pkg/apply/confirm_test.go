package apply

import (
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestAbsentButThere checks that an inventory stays if a read lacked one of its objects. No
// guard counted that object, and the garbage collector would delete it with the inventory.
func TestAbsentButThere(t *testing.T) {
	hidden := lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	for name, back := range map[string]bool{"there": true, "gone": false} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			mustApply(t, s, chain())
			object := s.Objects[hidden]
			delete(s.Objects, hidden)
			p := s.removal(t, plan.CascadeBackground, "n")
			if back {
				s.Objects[hidden] = object
			}
			sum, err := s.run(bounded(t), p)
			if err != nil {
				t.Fatal(err)
			}
			said := len(sum.Failed) == 1 && strings.Contains(sum.Failed[0].Problems[0].Problem(), "ConfigMap/ns/a belongs to inventory ns/lynqnode-n")
			if kept := len(s.notes.all()) == 1; kept != back || said != back || slices.Contains(s.requests, "delete "+hidden.String()) {
				t.Errorf("%s: kept %t, failed %+v, requests %q", name, kept, sum.Failed, s.requests)
			}
		})
	}
}
