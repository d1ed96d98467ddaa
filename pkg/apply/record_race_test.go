package apply

import (
	"fmt"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestLabelledMeanwhile checks runs while another client labels the inventory before each
// of their first writes: they keep the label, and end as if they were alone.
func TestLabelledMeanwhile(t *testing.T) {
	label := func(inv *inventory.Inventory, version int) {
		inv.Others = &inventory.Others{Labels: map[string]string{"example.com/seen": fmt.Sprint(version)}}
	}
	for times := range 4 {
		s := newStage()
		mustApply(t, s, chain())
		s.notes.meanwhile, s.notes.times = label, times
		mustApply(t, s, node("n", configMap("a", "2"), configMap("b", "1", "a"), configMap("c", "1", "b"), configMap("x", "1")))
		inv := s.notes.saved[lynq.NodeKey{Namespace: "ns", Name: "n"}]
		if (inv.Others != nil) != (times > 0) {
			t.Errorf("%d changes: others have %+v", times, inv.Others)
		}
		if got := s.notes.times; got != 0 {
			t.Errorf("%d changes: %d are left", times, got)
		}
		s.notes.times = times
		if sum := s.remove(t, plan.CascadeOrdered, "n"); len(sum.Failed) > 0 || len(s.notes.saved) > 0 || len(s.Objects) > 0 {
			t.Errorf("%d changes: %+v; left: %v", times, sum.Failed, s.Sorted())
		}
	}
}

// TestLeavingMeanwhile checks the same for the note of a grace period.
func TestLeavingMeanwhile(t *testing.T) {
	s := newStage()
	mustApply(t, s, chain())
	inv := s.notes.all()[0]
	s.notes.meanwhile, s.notes.times = func(inv *inventory.Inventory, _ int) {
		inv.Others = &inventory.Others{Finalizers: []string{"example.com/x"}}
	}, 2
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := plan.Leaving{Inventory: inv, Since: since, Until: since.Add(time.Hour)}
	saved, err := saveOn(t.Context(), s.notes, inv, l.Marked())
	if err != nil || !saved.LeavingSince.Equal(since) || len(saved.Holders()) != 1 {
		t.Errorf("%+v, %v", saved, err)
	}
}

// TestRecordedMeanwhile checks that a run neither writes over nor deletes what another
// client recorded.
func TestRecordedMeanwhile(t *testing.T) {
	for what, change := range map[string]func(*inventory.Inventory, int){
		"an entry is gone": func(inv *inventory.Inventory, _ int) { inv.Entries = inv.Entries[1:] },
		"another uid":      func(inv *inventory.Inventory, _ int) { inv.Entries[0].UID = "forged" },
		"another row":      func(inv *inventory.Inventory, _ int) { inv.Node.UID = "other" },
		"the node leaves":  func(inv *inventory.Inventory, _ int) { inv.Activate = "false" },
		"replaced":         func(inv *inventory.Inventory, _ int) { inv.UID = "another" },
	} {
		t.Run(what, func(t *testing.T) {
			s := newStage()
			mustApply(t, s, chain())
			s.notes.meanwhile, s.notes.times = change, 1
			sum, err := s.applied(t.Context(), node("n", configMap("a", "2"), configMap("b", "1", "a"), configMap("c", "1", "b"), configMap("x", "1")))
			if err != nil || len(sum.Failed) != 1 {
				t.Errorf("%s: %+v, %v", what, sum, err)
			}
			written := s.notes.all()[0]
			if change(written, 0); !inventory.Equal(written, s.notes.all()[0]) && what != "an entry is gone" {
				t.Errorf("%s: the run wrote over it", what)
			}
			s = newStage()
			mustApply(t, s, chain())
			s.notes.meanwhile, s.notes.times = change, 1
			if sum := s.remove(t, plan.CascadeOrdered, "n"); len(sum.Failed) != 1 || len(s.notes.saved) != 1 {
				t.Errorf("%s: removed: %+v; left %v", what, sum.Failed, s.notes.saved)
			}
		})
	}
}
