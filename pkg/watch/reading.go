package watch

import "time"

// sureAfter is how long after two equal readings of files the third one comes.
const sureAfter = 5 * time.Second

// Reading holds what two equal readings of files gave. The zero value stands for no
// files at all, which need no further reading.
type Reading struct {
	Digest string
	at     time.Time // of the second reading
	sure   bool      // a third reading was equal
}

// NewReading makes the Reading of a digest that two readings gave, the second one now.
func NewReading(digest string, now time.Time) Reading { return Reading{Digest: digest, at: now} }

// Again returns when to ask again whether a third reading is equal. It is zero once one
// was. Again reads the files only if it is time for that.
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
