package decide

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// TestMaxDeleteWindow checks that the guard holds rows that are lost one after the other
// like rows that are lost at once.
func TestMaxDeleteWindow(t *testing.T) {
	rows := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	var deletions []inventory.Deletions
	now := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	var held []string
	for len(rows) > 1 {
		s := newShop()
		s.in.Recorded.Deletions, s.in.Now = deletions, now
		for _, row := range rows {
			s.has(row, row)
			if row != rows[0] {
				s.wants(row, row)
			}
		}
		p := Decide(s.in, Limits{MaxDelete: limits.DefaultMaxDelete(), Window: time.Hour})
		if !slices.Equal(p.Losses, []lynq.NodeKey{shopNode(rows[0])}) {
			t.Fatalf("losses %v", p.Losses)
		}
		if len(p.Refusals) > 0 {
			held = append(held, p.Refusals[0].What, p.Refusals[0].Fix)
			if next := heldOf(p); next.Losses != nil {
				t.Errorf("a plan without deletions loses %v", next.Losses)
			}
			break
		}
		deletions, _ = RecordDeletions(deletions, p.Losses, now, time.Hour)
		rows, now = rows[1:], now.Add(2*time.Second)
	}
	want := []string{
		"1 of 8 nodes would be deleted (c-web), the limit is 2 (--max-delete=25%): 2 others were deleted within 1h0m0s",
		"check the rows; to do this anyway, pass --max-delete=3",
	}
	if diff := cmp.Diff(want, held); diff != "" {
		t.Error(diff)
	}
}

// TestMaxDeleteWindowAlone checks that earlier deletions don't matter for a plan that
// deletes nothing. A plan without a window records nothing.
func TestMaxDeleteWindowAlone(t *testing.T) {
	s := newShop()
	s.in.Now = time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	s.in.Recorded.Deletions, _ = RecordDeletions(nil, []lynq.NodeKey{shopNode("x"), shopNode("y"), shopNode("z")}, s.in.Now, time.Hour)
	s.has("a", "a")
	s.wants("a", "a")
	s.has("b", "b")
	for wanted, limits := range map[plan.Guard]Limits{
		"": {MaxDelete: limits.DefaultMaxDelete()}, plan.GuardMaxDelete: {MaxDelete: limits.DefaultMaxDelete(), Window: time.Hour},
	} {
		t.Run(string(wanted), func(t *testing.T) {
			p := Decide(s.in, limits)
			guard := plan.Guard("")
			if len(p.Refusals) > 0 {
				guard = p.Refusals[0].Guard
			}
			if guard != wanted || (p.Losses != nil) != (limits.Window > 0) {
				t.Errorf("%+v: %v, losses %v", limits, p.Refusals, p.Losses)
			}
		})
	}
	s.wants("b", "b")
	if p := Decide(s.in, Limits{Window: time.Hour}); len(p.Refusals) > 0 {
		t.Errorf("nothing goes: %v", p.Refusals)
	}
}
