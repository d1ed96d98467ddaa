package decide

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func at(hour int) time.Time { return time.Date(2026, 3, 4, hour, 0, 0, 0, time.UTC) }

// TestSince checks that nobody who writes only one of the records can make lynqctl delete a
// node earlier.
func TestSince(t *testing.T) {
	none := time.Time{}
	for name, tt := range map[string]struct {
		inventory, hub, now, known, want time.Time
	}{
		"first seen":                            {none, none, at(12), none, at(12)},
		"first seen, after a run that is over":  {none, none, at(12), at(11), at(12)},
		"first seen, by a clock that is behind": {none, none, at(3), at(11), at(11)},
		"both agree":                            {at(10), at(10), at(12), at(11), at(10)},
		"an older date in the inventory":        {at(1), at(10), at(12), at(11), at(10)},
		"an older date in the hub's record":     {at(10), at(1), at(12), at(11), at(10)},
		"a later date in one of them":           {at(20), at(10), at(12), at(11), at(20)},
		"the inventory has none":                {none, at(10), at(12), at(11), at(12)},
		"the hub's record has none":             {at(10), none, at(12), at(11), at(12)},
		"the hub's record has none, and the inventory's is in the future": {at(20), none, at(12), at(11), at(20)},
		"a clock that jumped back":                                        {at(10), at(10), at(2), at(11), at(10)},
		"a date in the future stays":                                      {at(20), at(20), at(12), at(11), at(20)},
	} {
		t.Run(name, func(t *testing.T) {
			got := graceMarks{Inventory: tt.inventory, Hub: tt.hub}.Since(tt.now, tt.known)
			if !got.Equal(tt.want) {
				t.Errorf("%s: %s, want %s", name, got, tt.want)
			}
		})
	}
	if got := (graceMarks{}).Since(at(12).Add(1), none); !got.Equal(at(12).Add(time.Second)) {
		t.Errorf("a part of a second is rounded to %s, which shortens the period", got)
	}
}

// TestUntil checks that a forged date in the far future gives an end that a record can hold.
func TestUntil(t *testing.T) {
	if got := graceUntil(at(10), 3*time.Hour); !got.Equal(at(13)) {
		t.Errorf("a period of 3 hours ends at %s", got)
	}
	forged := time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	for _, since := range []time.Time{forged, forged.Add(-time.Minute)} {
		if got := graceUntil(since, time.Hour); !got.Equal(forged) {
			t.Errorf("from %s, the period ends at %s", since, got)
		}
	}
}

func TestOver(t *testing.T) {
	for now, want := range map[time.Time]bool{at(2): false, at(10): false, at(13).Add(-1): false, at(13): true, at(20): true} {
		if got := graceOver(at(10), 3*time.Hour, now); got != want {
			t.Errorf("at %s: %v", now, got)
		}
	}
	if !graceOver(at(10), 0, at(9)) {
		t.Error("no period is not over at once")
	}
}

func TestLedger(t *testing.T) {
	node := func(name string) lynq.NodeKey { return lynq.NodeKey{Namespace: "shop", Name: name} }
	digest := func(name string) string { return inventory.NodeDigest("shop", name) }
	l := newGraceLedger([]inventory.Leaving{{Since: at(3), Nodes: []string{digest("a"), digest("b")}}, {Since: at(5), Nodes: []string{digest("b")}}})
	l.Set(node("c"), at(3))
	l.Set(node("d"), time.Time{})
	for name, want := range map[string]time.Time{"a": at(3), "b": at(5), "c": at(3), "d": {}, "x": {}} {
		t.Run(name, func(t *testing.T) {
			if got := l.Of(node(name)); !got.Equal(want) {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		})
	}
	first := []string{digest("a"), digest("c")}
	if first[0] > first[1] {
		first[0], first[1] = first[1], first[0]
	}
	want := []inventory.Leaving{{Since: at(3), Nodes: first}, {Since: at(5), Nodes: []string{digest("b")}}}
	if diff := cmp.Diff(want, l.Recorded()); diff != "" {
		t.Error(diff)
	}
	for i := range 30_000 {
		l.Set(node(fmt.Sprint("many-", i)), at(6))
	}
	recorded, n := l.Recorded(), 0
	for _, r := range recorded {
		n += len(r.Nodes)
	}
	if n != 10_000 || len(recorded) != 3 {
		t.Errorf("%d nodes at %d times are recorded", n, len(recorded))
	}
}
