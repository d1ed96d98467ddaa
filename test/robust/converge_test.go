package robust_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// stateLines is the number of changes to a fleet before two runs repair it.
const stateLines = 12

// TestConvergence starts runs in random states of nodes' objects: changed, replaced,
// deleted, taken, without tracking, without an inventory, or with that of a killed run.
// Runs must reach the state of the inputs. After that, a run must write nothing.
func TestConvergence(t *testing.T) {
	t.Parallel()
	first := number(t, "LYNQCTL_ROBUST_SEED", 1)
	for seed := first; seed < first+number(t, "LYNQCTL_ROBUST_STATES", 48); seed++ {
		t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
			t.Parallel()
			inMemory(t, func(t *testing.T, h *history) {
				h.state(t, seed)
				if len(h.wrong) == 0 {
					h.replay(t, []string{"apply max=100% wait=1", "apply max=100% wait=1", "apply max=100% wait=1 still=1"})
				}
				if len(h.wrong) > 0 {
					t.Errorf("LYNQCTL_ROBUST_SEED=%d LYNQCTL_ROBUST_STATES=1\n%s", seed, h)
				}
			})
		})
	}
}

// state brings a fleet into a random state.
func (h *history) state(t *testing.T, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed*spread, seed))
	h.replay(t, append(fleet(), "apply max=100% wait=1"))
	for range stateLines {
		if len(h.wrong) == 0 {
			h.step(t, drawer{random, h.inputs, h.last, h.served, true, h.lines}.happens())
		}
	}
}

// happens draws a change of nodes' objects, inventories or inputs.
func (d drawer) happens() string {
	for {
		line := d.one(
			chance{12, d.erased}, chance{10, d.marked}, chance{4, d.forgotten}, chance{4, d.lost}, chance{3, d.made}, chance{2, d.forged},
			chance{12, func() string { return with("drift", d.object(anyObject)) }},
			chance{8, func() string { return with("untrack", d.object(anyObject)) }},
			chance{8, d.blurred}, chance{8, d.killed},
			chance{4, d.row}, chance{4, d.column}, chance{4, d.hand}, chance{3, d.rehub}, chance{3, d.uid}, chance{1, d.renamed}, chance{3, d.move}, chance{4, d.dropOrAdd}, chance{4, d.set}, chance{2, d.exclusion},
		)()
		if line != "" && !strings.HasPrefix(line, "serve") {
			return line
		}
	}
}

// blurred names an object and its node.
func (d drawer) blurred() string {
	ref := d.object(func(o model.Object) bool { holder, _ := d.cluster.Holder(o); return holder != nil })
	row, _, _ := strings.Cut(model.ParseRef(ref).Name, "-")
	for _, i := range d.cluster.Inventories {
		if ref != "" && i.Node.Row == row {
			return with("blur", i.Name, ref)
		}
	}
	return ""
}

// killed draws a run that ends before one of its writes.
func (d drawer) killed() string {
	return fmt.Sprintf("apply max=100%% wait=1 fault=kill:%d", 1+d.IntN(25))
}
