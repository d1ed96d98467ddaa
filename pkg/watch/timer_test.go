package watch_test

import (
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/watch"
)

func TestNextTimer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		began  time.Time
		timers []watch.Timer
		want   string
	}{
		{"there is none", time.Time{}, nil, ""},
		{"none is set", time.Time{}, []watch.Timer{{Why: "a"}}, ""},
		{"the earliest one", at(0), []watch.Timer{{at(3), "a"}, {at(2), "b"}, {time.Time{}, "c"}, {at(4), "d"}}, "b"},
		{"the round has what was due before it began", at(2), []watch.Timer{{at(1), "a"}, {at(2), "b"}, {at(9), "c"}}, "c"},
		{"without a round the past counts", time.Time{}, []watch.Timer{{at(9), "a"}, {at(1), "b"}}, "b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := watch.NextTimer(test.began, test.timers...); got.Why != test.want {
				t.Errorf("got %q, want %q", got.Why, test.want)
			}
		})
	}
}

// TestLedgerFail has a node fail while another node of the same round still waits.
func TestLedgerFail(t *testing.T) {
	t.Parallel()
	var l watch.Progress[string]
	wanted := map[string]string{"slow": "1", "bad": "1"}
	began := at(0)
	l.Fail("bad", "1", at(1))
	if want := at(1).Add(watch.Pause(1)); !l.Next(began).Equal(want) {
		t.Errorf("the back-off ends at %s, want %s", l.Next(began), want)
	}
	began = at(1).Add(watch.Pause(1)) // its back-off ends the first round
	l.Settle(map[string]watch.End{"slow": watch.EndInterrupted}, wanted, began)
	if due := l.Due(wanted, began); len(due) != 2 {
		t.Errorf("due are %v, want both", due)
	}
	if next := l.Next(began); !next.IsZero() {
		t.Errorf("the back-off that began the round ends it at %s, too", next)
	}
	l.Fail("bad", "1", began)
	if want := began.Add(watch.Pause(2)); !l.Next(began).Equal(want) {
		t.Errorf("the second back-off ends at %s, want %s", l.Next(began), want)
	}
	l.Fail("gone", "", began)
	if l.Due(wanted, began)["gone"] || !l.Due(wanted, began.Add(watch.Pause(1)))["gone"] {
		t.Error("a node that is wanted no more is not tried again after its back-off")
	}
}
