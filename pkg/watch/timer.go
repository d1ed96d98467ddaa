package watch

import "time"

// Timer is a time at which a hub has work although nothing changed.
type Timer struct {
	At  time.Time // zero for never
	Why string    // for people: what happens then
}

// NextTimer returns the earliest Timer after began, the start of a round that does the work of
// earlier ones. Its At is zero if there is none. It is a pure function.
func NextTimer(began time.Time, timers ...Timer) Timer {
	var next Timer
	for _, t := range timers {
		if t.At.After(began) && (next.At.IsZero() || t.At.Before(next.At)) {
			next = t
		}
	}
	return next
}
