package decide

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestRepairs checks that lynqctl takes fields back from others only if it wrote them. The
// object must be the recorded one, and its content must be unchanged, or others must have
// changed it.
func TestRepairs(t *testing.T) {
	for at, want := range map[situation]bool{
		drift: true, formChanged: false, policyMoved: true, unconfirmed: false, recreated: false, nobodys: false, ours: false, absent: false,
	} {
		t.Run(string(at), func(t *testing.T) {
			step := Decide(scene(at, lynq.DefaultPolicy()), Limits{}).Nodes[0].Steps[0]
			if got := step.Repairs(); got != want {
				t.Errorf("%s, %s (%s): %t, want %t", at, step.Action, step.Reason, got, want)
			}
		})
	}
	step := Decide(scene(drift, lynq.DefaultPolicy()), Limits{}).Nodes[0].Steps[0]
	step.Object.Digest = "d2"
	if !step.Repairs() {
		t.Error("changed by the form, and by others since: it repairs nothing")
	}
}
