package watch

import "time"

// The first and the longest time for which the log doesn't repeat a text.
const (
	firstReminder = time.Minute
	lastReminder  = time.Hour
)

// Reminder keeps a log from repeating a text all the time. A text is due if it is new, and again
// after a minute, two, four, at most an hour. The zero value has no text. It isn't safe for
// concurrent use.
type Reminder struct {
	text  string
	next  time.Time
	pause time.Duration
}

// Due reports whether the log should have a text now. If so, it notes that the log has it.
func (r *Reminder) Due(text string, now time.Time) bool {
	switch {
	case r.next.IsZero() || text != r.text:
		r.pause = firstReminder
	case now.Before(r.next):
		return false
	default:
		r.pause = min(2*r.pause, lastReminder)
	}
	r.text, r.next = text, now.Add(r.pause)
	return true
}

// Over forgets the text. It reports whether there was one.
func (r *Reminder) Over() bool {
	told := !r.next.IsZero()
	*r = Reminder{}
	return told
}
