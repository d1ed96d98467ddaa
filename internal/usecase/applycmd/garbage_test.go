package applycmd

import (
	"runtime/debug"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// TestSaveMemory checks that only large runs collect garbage earlier, and only if the user
// hasn't set GOGC.
func TestSaveMemory(t *testing.T) {
	before := debug.SetGCPercent(goDefault)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	half := &plan.Node{Objects: make([]plan.Object, manyObjects/2)}
	for _, tt := range []struct {
		nodes     []*plan.Node
		was, want int
	}{
		{[]*plan.Node{half}, goDefault, goDefault},
		{[]*plan.Node{half, half}, goDefault, savingMemory},
		{[]*plan.Node{half, half}, savingMemory, savingMemory},
		{[]*plan.Node{half, half}, 300, 300},
	} {
		debug.SetGCPercent(tt.was)
		saveMemory(tt.nodes)
		if got := debug.SetGCPercent(goDefault); got != tt.want {
			t.Errorf("%d nodes, %d before: got %d, want %d", len(tt.nodes), tt.was, got, tt.want)
		}
	}
}
