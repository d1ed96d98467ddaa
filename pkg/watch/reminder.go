package watch

import "time"

// How long a text of the log isn't repeated, and at most.
const (
	firstReminder = time.Minute
	lastReminder  = time.Hour
)

// Reminder keeps a log from telling the same again and again: a text is due if it is new,
// and again after a minute, two, four, at most an hour. The zero value has told nothing. It
// isn't safe for concurrent use.
type Reminder struct {
	text  string
	next  time.Time
	pause time.Duration
}

// Due reports whether the log should tell a text now. If so, it notes that the log did.
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
