package watchcmd

import (
	"context"
	"time"

	"github.com/lynqctl/lynqctl/pkg/watch"
)

// roundFor is the time for which nothing interrupts a round. After that, new work ends the
// round, and the next one waits for the same objects.
const roundFor = 2 * time.Second

// tellEvery is the interval at which the log names the objects that a round waits for.
const tellEvery = time.Minute

// timer returns the next time at which the hub has work although nothing changed. It
// ignores times before began, the start of the current round. The result is zero if no
// timer is set.
func (h *hubWatch) timer(began time.Time) watch.Timer {
	return watch.NextTimer(began, append(h.nodes.timers(began), h.times.timers(h.wholeEvery())...)...)
}

// next returns the time of the next round if nothing changes.
func (h *hubWatch) next(now time.Time) time.Time {
	switch {
	case h.times.failures > 0:
		return h.times.retryAt
	case !h.reads.any():
		return now.Add(wholeEvery) // the first read of the rows wakes it
	}
	if next := h.timer(time.Time{}).At; !next.IsZero() {
		return next
	}
	return now
}

// tellWaiting logs what the round waits for.
func (h *hubWatch) tellWaiting() {
	objects := h.nodes.waitsFor()
	h.reminders.toldWaiting = time.Now()
	if len(objects) == 0 {
		return
	}
	if note := waitingNote(h.hub.Key, objects); h.reminders.waiting.Due(note, h.reminders.toldWaiting) {
		h.w.engine.Notef("%s", note)
	}
}

// tellEarly logs why a round ends early. Rounds that wait for long end early again and
// again, so each kind of reason has its own reminder. Changes are one kind.
func (h *hubWatch) tellEarly(kind, why string) {
	if h.reminders.early[kind] == nil {
		if h.reminders.early == nil {
			h.reminders.early = map[string]*watch.Reminder{}
		}
		h.reminders.early[kind] = &watch.Reminder{}
	}
	if h.reminders.early[kind].Due("", time.Now()) {
		h.w.engine.Notef("%s", earlyNote(h.hub.Key, why))
	}
}

// interrupt ends a round that began at began if another run waits for the hub. Unless the
// round is approved, a change or a timer ends it too, after roundFor. The returned channel
// closes once interrupt can no longer end the round.
func (h *hubWatch) interrupt(ctx context.Context, stop context.CancelCauseFunc, wanted <-chan struct{}, began time.Time, approved bool) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		had, minute := time.NewTimer(roundFor), time.NewTimer(time.Until(h.reminders.toldWaiting.Add(tellEvery)))
		defer had.Stop()
		defer minute.Stop()
		yields := false // any new work ends the round
		for {
			noted := h.changes.Noted()
			var next watch.Timer
			if yields {
				if h.changes.Pressing() {
					h.tellEarly("", h.changes.Why())
					stop(errNewChanges)
					return
				}
				next = h.timer(began)
			}
			timer := alarm(next.At)
			select {
			case <-ctx.Done():
			case <-wanted:
				stop(errYielded)
			case <-timer.C:
				h.tellEarly(next.Why, next.Why)
				stop(errTimer)
			case <-had.C:
				yields = !approved
			case <-minute.C:
				h.tellWaiting()
				minute.Reset(tellEvery)
			case <-noted:
			}
			timer.Stop()
			if ctx.Err() != nil {
				return
			}
		}
	}()
	return ended
}

// alarm returns a timer for a time. It never fires for the zero time.
func alarm(at time.Time) *time.Timer {
	timer := time.NewTimer(time.Until(at))
	if at.IsZero() {
		timer.Stop()
	}
	return timer
}
