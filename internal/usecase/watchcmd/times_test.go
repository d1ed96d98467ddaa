package watchcmd

import (
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/watch"
)

// TestRoundTimes wants rounds at their times, and one about all nodes after a failure.
func TestRoundTimes(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ago, soon := now.Add(-time.Minute), now.Add(time.Minute)
	failed := roundTimes{whole: now}
	failed.fail(now)
	for name, tt := range map[string]struct {
		times      roundTimes
		due, grace bool
		next       time.Time // of the timers
	}{
		"the zero value":              {times: roundTimes{}, due: true, next: time.Time{}.Add(wholeEvery)},
		"after a whole round":         {times: roundTimes{whole: now}, next: now.Add(wholeEvery)},
		"long after it":               {times: roundTimes{whole: now.Add(-wholeEvery)}, due: true, next: now},
		"before a reading of files":   {times: roundTimes{whole: now, rereadFiles: soon}, next: soon},
		"at a reading of files":       {times: roundTimes{whole: ago, rereadFiles: now}, due: true, next: now},
		"before a grace period ends":  {times: roundTimes{whole: now, grace: soon}, next: soon},
		"after it ended":              {times: roundTimes{whole: now, grace: ago}, grace: true, next: ago},
		"a round failed":              {times: failed, due: true, next: time.Time{}.Add(wholeEvery)},
		"a hub that joins no other":   {times: roundTimes{whole: now, joinsFrom: soon}, next: now.Add(wholeEvery)},
		"both, and the nearest first": {times: roundTimes{whole: now, grace: soon, rereadFiles: now.Add(time.Second)}, next: now.Add(time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			times := tt.times
			if due, grace := times.due(wholeEvery, now), times.graceDue(now); due != tt.due || grace != tt.grace {
				t.Errorf("due: %t, grace period over: %t", due, grace)
			}
			if next := watch.NextTimer(time.Time{}, times.timers(wholeEvery)...); !next.At.Equal(tt.next) {
				t.Errorf("next at %s, want %s", next.At, tt.next)
			}
		})
	}
	if failed.failures != 1 || !failed.retryAt.Equal(now.Add(watch.Pause(1))) {
		t.Errorf("after a failed round: %+v", failed)
	}
}
