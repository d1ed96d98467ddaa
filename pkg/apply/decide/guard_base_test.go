package decide

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// refused reports whether --max-delete refuses the plan of a shop.
func (s *shop) refused(limit limits.MaxDelete) bool {
	r := Decide(s.in, Limits{MaxDelete: limit}).Refusals
	return len(r) == 1 && r[0].Guard == plan.GuardMaxDelete
}

// TestMaxDeleteOtherForms checks that nodes of forms outside the run don't raise the limit.
func TestMaxDeleteOtherForms(t *testing.T) {
	for form, want := range map[string]bool{"web": false, "db": true} {
		t.Run(form, func(t *testing.T) {
			s := newShop()
			s.has("a", "a")
			s.has("z", "z")
			s.wants("b", "b")
			s.has("b", "b")
			for _, row := range []string{"c", "d", "e", "f", "g", "h"} {
				inv := s.has(row, row)
				inv.Node.Form.Name = form
				if form == "web" {
					s.wants(row, row)
				}
			}
			if got := s.refused(limits.MaxDelete{Percent: 25}); got != want {
				t.Errorf("six more nodes of form %s: refused %t, want %t", form, got, want)
			}
		})
	}
}

// TestMaxDeleteMoves checks that a renamed node counts if its row now makes it in another
// namespace.
func TestMaxDeleteMoves(t *testing.T) {
	for namespace, want := range map[string]bool{"ns": false, "elsewhere": true} {
		t.Run(namespace, func(t *testing.T) {
			s := newShop()
			s.has("before", "a")
			s.wants("after", "a").Namespace = namespace
			s.renames(map[string]string{"before": "after"}, nil)
			if got := s.refused(limits.MaxDelete{}); got != want {
				t.Errorf("renamed into namespace %s: refused %t, want %t", namespace, got, want)
			}
		})
	}
}

// TestMaxDeleteDropped checks which dropped objects with data count as losses of a node
// that stays.
func TestMaxDeleteDropped(t *testing.T) {
	for policy, want := range map[lynq.DeletionPolicy]bool{lynq.DeleteDelete: true, lynq.DeleteRetainOnDelete: true, lynq.DeleteRetain: false} {
		t.Run(string(policy), func(t *testing.T) {
			s := newShop()
			inv := s.has("a", "kept", "dropped")
			inv.Entries[1].Deletion, inv.Entries[1].Data = policy, true
			s.wants("a", "kept")
			if got := s.refused(limits.MaxDelete{}); got != want {
				t.Errorf("deletionPolicy %s: refused %t, want %t", policy, got, want)
			}
		})
	}
}

// TestMaxDeleteRenamed checks that inventories under former names don't raise the limit if
// the nodes have inventories of their own.
func TestMaxDeleteRenamed(t *testing.T) {
	s := newShop()
	for _, row := range []string{"a", "b", "c", "d"} {
		s.has(row, row)
	}
	s.wants("a", "a")
	s.wants("b", "b")
	s.has("before-a")
	s.has("before-b")
	s.renames(map[string]string{"before-a": "a", "before-b": "b"}, nil)
	if !s.refused(limits.MaxDelete{Percent: 34}) {
		t.Error("two of four nodes would go")
	}
}
