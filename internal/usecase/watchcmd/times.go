package watchcmd

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/watch"
)

// wholeEvery is the interval at which rounds compare all nodes with the cluster, even if no
// watch reports a change.
const wholeEvery = 5 * time.Minute

// roundTimes say when a hub has a round although nothing changed. Its zero value says: now,
// about all nodes.
type roundTimes struct {
	whole    time.Time // the last round about all nodes
	failures int       // the number of failed rounds in a row
	retryAt  time.Time // when to try again after a failure
	// rereadFiles is the time to read the files again whose changes delete data. Zero means
	// never.
	rereadFiles time.Time
	// grace is the time when the first grace period ends, zero for none.
	grace time.Time
	// joinsFrom is the time from which the hub may wait for another one again.
	joinsFrom time.Time
}

// fail notes that a round failed. The open work is unknown then, so the next round is about
// all nodes.
func (t *roundTimes) fail(now time.Time) {
	t.failures++
	t.retryAt, t.whole = now.Add(watch.Pause(t.failures)), time.Time{}
}

// due reports whether one of the times has come at which a round needs all nodes. every is
// the interval between such rounds.
func (t *roundTimes) due(every time.Duration, now time.Time) bool {
	return !now.Before(t.whole.Add(every)) || !t.rereadFiles.IsZero() && !now.Before(t.rereadFiles)
}

// graceDue reports whether a grace period has ended.
func (t *roundTimes) graceDue(now time.Time) bool { return !t.grace.IsZero() && !now.Before(t.grace) }

// timers returns the times with their reasons, for the log.
func (t *roundTimes) timers(every time.Duration) []watch.Timer {
	return []watch.Timer{
		{At: t.rereadFiles, Why: "lynqctl reads the files once more before it deletes data"},
		{At: t.grace, Why: "the deletionGracePeriod of a node is over"},
		{At: t.whole.Add(every), Why: "lynqctl compares all nodes with the cluster"},
	}
}

// wholeEvery is the interval between comparisons of all nodes of the hub. A shorter
// reapplyInterval of an object shortens it.
func (h *hubWatch) wholeEvery() time.Duration {
	every := wholeEvery
	for _, p := range h.hub.Programs {
		for _, r := range p.Form.Resources {
			if d := r.Policy.ReapplyInterval; d > 0 {
				every = min(every, d)
			}
		}
	}
	return every
}
