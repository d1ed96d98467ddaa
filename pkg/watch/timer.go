package watch

import "time"

// Timer is a moment at which a hub has something to do, though nothing changes.
type Timer struct {
	At  time.Time // zero for never
	Why string    // for people: what happens then
}

// NextTimer gives the earliest Timer that comes after the round that began at began: that
// round has all that were due before. Its At is zero where there is none. NextTimer is a
// pure function.
func NextTimer(began time.Time, timers ...Timer) Timer {
	var next Timer
	for _, t := range timers {
		if t.At.After(began) && (next.At.IsZero() || t.At.Before(next.At)) {
			next = t
		}
	}
	return next
}
