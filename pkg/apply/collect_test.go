package apply

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// keepers are Inventories with failing removals.
type keepers struct{ *notes }

func (keepers) Remove(context.Context, *inventory.Inventory, decide.Permit) error {
	return errors.New("the answer was lost")
}

// left removes node n with a clock that doesn't wait for blocked deletions. It returns the
// summary and the outcome of each object.
func (s *stage) left(t *testing.T, inventories Inventories, change func()) (*report.Summary, map[string]report.Outcome) {
	t.Helper()
	p := s.removal(t, plan.CascadeBackground, "n")
	if p.Counts[plan.ActionCollect] != 2 {
		t.Fatalf("plan: %v, want two objects for the garbage collector", p.Counts)
	}
	change()
	told := &patience{}
	all := &events{}
	r := &Runner{Cluster: s, Inventories: inventories, Reporter: reporters{told, all}, Now: told.now, Options: s.options}
	sum, err := summed(r.Run(bounded(t), []plan.Plan{*p}))
	if err != nil {
		t.Fatal(err)
	}
	ended := map[string]report.Outcome{}
	for _, e := range all.all {
		if e.Type == report.EventObject {
			ended[e.Object.Name] = e.Outcome
		}
	}
	return sum, ended
}

type reporters []report.Reporter

func (r reporters) Report(e report.Event) {
	for _, to := range r {
		to.Report(e)
	}
}

// TestCollectedStaysRecorded checks that the inventory names objects left to the garbage
// collector until it is deleted with them.
func TestCollectedStaysRecorded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		records func(*notes) Inventories
		change  func(*stage)
	}{
		{"the inventory cannot be removed", func(n *notes) Inventories { return keepers{n} }, func(*stage) {}},
		{"another object is held by a finalizer", func(n *notes) Inventories { return n }, func(s *stage) {
			s.takeOver(shared, func(m *metav1.PartialObjectMetadata) {
				m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: "o", UID: "o"})
			})
			s.Objects[shared].SetFinalizers([]string{"example.com/backup"})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			mustApply(t, s, node("n", configMap("a", "1"), configMap("shared", "1")))
			sum, ended := s.left(t, test.records(s.notes), func() { test.change(s) })
			if len(sum.Failed) != 1 {
				t.Errorf("failed: %+v, want node n", sum.Failed)
			}
			if got := s.notes.names(); len(got) != 2 {
				t.Errorf("recorded: %v, want both objects", got)
			}
			if ended["a"] != report.OutcomeSkipped {
				t.Errorf("a is told %q, and is there", ended["a"])
			}
			// Nothing blocks the deletion any more.
			s.Mu.Lock()
			s.Objects[shared].SetFinalizers(nil)
			s.Mu.Unlock()
			if sum := s.remove(t, plan.CascadeBackground, "n"); len(sum.Failed) > 0 || len(s.notes.saved) > 0 {
				t.Errorf("failed: %+v; recorded: %v", sum.Failed, s.notes.names())
			}
		})
	}
}

// TestCollectedBesideUnmanaged checks a node with an unmanaged object, which keeps the
// inventory. The garbage collector would never delete the other objects, so lynqctl deletes
// them.
func TestCollectedBesideUnmanaged(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("n", configMap("a", "1"), configMap("shared", "1")))
	_, ended := s.left(t, s.notes, func() {
		s.takeOver(shared, func(m *metav1.PartialObjectMetadata) {
			m.Annotations[wellknown.AnnotationMode] = wellknown.ModeUnmanaged
		})
	})
	if got := s.notes.names(); len(got) != 1 || got[shared] == "" {
		t.Errorf("recorded: %v, want shared", got)
	}
	if got := s.deletes(); got != "a" || ended["a"] != report.OutcomeDone {
		t.Errorf("deleted: %s, want a, which is told %q", got, ended["a"])
	}
}

// TestCollectedWithTheInventory checks that the run reports collected objects only after
// the inventory is deleted.
func TestCollectedWithTheInventory(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("n", configMap("a", "1"), configMap("shared", "1")))
	sum, ended := s.left(t, s.notes, func() {})
	if len(sum.Failed) > 0 || len(s.notes.saved) > 0 || ended["a"] != report.OutcomeDone || ended["shared"] != report.OutcomeDone || sum.Actions[plan.ActionCollect] != 2 {
		t.Errorf("%+v, %v", sum, ended)
	}
	s = newStage()
	mustApply(t, s, node("n", configMap("a", "1"), configMap("shared", "1")))
	s.options.DryRun = true
	if _, ended = s.left(t, s.notes, func() {}); ended["a"] != report.OutcomeDone || len(s.notes.saved) != 1 {
		t.Errorf("a dry run tells of a: %q", ended["a"])
	}
}
