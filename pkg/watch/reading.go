package watch

import "time"

// sureAfter is the time between the second of two equal readings of files and a third one.
const sureAfter = 5 * time.Second

// Reading is the result of two equal readings of files. The zero value stands for no files,
// which need no further reading.
type Reading struct {
	Digest string
	at     time.Time // of the second reading
	sure   bool      // a third reading was equal
}

// NewReading returns the Reading of a digest that two readings had, the second one now.
func NewReading(digest string, now time.Time) Reading { return Reading{Digest: digest, at: now} }

// Again returns when to call it again. It is zero once a third reading was equal. Again reads the
// files only if it is time for that.
func (r *Reading) Again(now time.Time, read func() string) time.Time {
	if r.Digest == "" || r.sure {
		return time.Time{}
	}
	if third := r.at.Add(sureAfter); now.Before(third) {
		return third
	}
	if r.sure = read() == r.Digest; r.sure {
		return time.Time{}
	}
	return now.Add(sureAfter)
}
