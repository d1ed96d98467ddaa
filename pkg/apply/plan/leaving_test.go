package plan_test

import (
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// TestMarked checks that an inventory gets both times of the grace period, and that the plan
// has work until it has both.
func TestMarked(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		since, until time.Time // of the inventory
		want         bool
	}{
		"no times":      {time.Time{}, time.Time{}, false},
		"both times":    {noon, noon.Add(time.Hour), true},
		"another begin": {noon.Add(-time.Minute), noon.Add(time.Hour), false},
		"another end":   {noon, noon.Add(2 * time.Hour), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inv := &inventory.Inventory{LeavingSince: tt.since, LeavingUntil: tt.until, Entries: []inventory.Entry{{Ref: config()}}}
			l := plan.Leaving{Inventory: inv, Since: noon, Until: noon.Add(time.Hour)}
			if l.IsMarked() != tt.want {
				t.Errorf("%s: it is marked: %t", name, l.IsMarked())
			}
			marked := plan.Leaving{Inventory: inv, Since: noon, Until: noon.Add(time.Hour)}
			marked.Inventory = l.Marked()
			if next := marked.Inventory; !next.LeavingSince.Equal(noon) || !next.LeavingUntil.Equal(noon.Add(time.Hour)) || len(next.Entries) != 1 {
				t.Errorf("%s: it becomes %+v", name, next)
			}
			if !inv.LeavingSince.Equal(tt.since) || !inv.LeavingUntil.Equal(tt.until) {
				t.Errorf("%s: the recorded inventory changed: %+v", name, inv)
			}
			for what, p := range map[string]struct {
				leaving []plan.Leaving
				want    bool
			}{"none": {nil, false}, "one": {[]plan.Leaving{l}, !tt.want}, "the second": {[]plan.Leaving{marked, l}, !tt.want}} {
				if got := (&plan.Plan{Leaving: p.leaving}).Marks(); got != p.want {
					t.Errorf("%s: the plan marks %s: %t", name, what, got)
				}
			}
		})
	}
}

// TestWake checks that a watch wakes at the first end of a grace period, in any order.
func TestWake(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		after []time.Duration
		want  time.Time
	}{
		"none":           {nil, time.Time{}},
		"one":            {[]time.Duration{time.Hour}, noon.Add(time.Hour)},
		"the first":      {[]time.Duration{time.Hour, 2 * time.Hour}, noon.Add(time.Hour)},
		"one in between": {[]time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour}, noon.Add(time.Hour)},
		"the last":       {[]time.Duration{2 * time.Hour, time.Hour}, noon.Add(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plan.Plan{}
			for _, d := range tt.after {
				p.Leaving = append(p.Leaving, plan.Leaving{Until: noon.Add(d)})
			}
			if got := p.Wake(); !got.Equal(tt.want) {
				t.Errorf("%s: %s, want %s", name, got, tt.want)
			}
		})
	}
}
