package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// term is how long a lock is ours, by our own clock. It is safe for concurrent use.
type term struct {
	mu      sync.Mutex
	renewed time.Time // just before the last renewal was sent, or zero
	trouble error     // why later renewals failed
	lost    error     // permanent; a later renewal changes nothing
	end     context.CancelCauseFunc
}

// begin starts a term, or ends it with the zero time.
func (t *term) begin(renewed time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renewed, t.trouble, t.lost, t.end = renewed, nil, nil, nil
}

// extend notes a successful renewal.
func (t *term) extend(renewed time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renewed, t.trouble = renewed, nil
}

// failed notes a failed renewal.
func (t *term) failed(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trouble = why
}

// since returns the last renewal, or zero.
func (t *term) since() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.renewed
}

// endsWith cancels a context when the term ends.
func (t *term) endsWith(cancel context.CancelCauseFunc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = cancel
}

// elapsed returns the time between two readings of our clock. Sleep stops the monotonic
// clock, and somebody may set the other one back. So the larger result counts.
func elapsed(since, now time.Time) time.Duration {
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// left returns how long the lock is still ours. It ends a fifth of the duration before
// others may take it, so that pending requests finish in time.
func (l *Lock) left() time.Duration {
	return l.Duration - l.Duration/margin - elapsed(l.term.since(), l.Now())
}

// Check reports a lost lock as a *LostError, by our own clock, without a request. So a
// suspended process notices the loss before it writes. After a loss, the context of Hold
// ends, and no later renewal brings the lock back.
func (l *Lock) Check() error {
	left := l.left()
	t := &l.term
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.lost != nil:
		return t.lost
	case t.renewed.IsZero():
		return l.lost("", errors.New("it is not held"))
	case left > 0:
		return nil
	}
	why := t.trouble
	if why == nil {
		why = errors.New("this process was stopped for too long")
	}
	return t.lose(l.lost("", fmt.Errorf("it could not be renewed in time: %w", why)))
}

// lose ends the term permanently. The first reason counts.
func (l *Lock) lose(err error) error {
	l.term.mu.Lock()
	defer l.term.mu.Unlock()
	return l.term.lose(err)
}

// lose is Lock.lose for callers that hold the mutex.
func (t *term) lose(err error) error {
	if t.lost == nil {
		t.lost = err
	}
	if t.end != nil {
		t.end(t.lost)
	}
	return t.lost
}
