package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// term is for how long a lock is ours, by our own clock. It is safe for
// concurrent use.
type term struct {
	mu      sync.Mutex
	renewed time.Time // just before the last renewal was sent, zero for none
	trouble error     // why there was none since
	lost    error     // for good: a later renewal changes nothing
	end     context.CancelCauseFunc
}

// begin begins a term, or ends one with the zero time.
func (t *term) begin(renewed time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renewed, t.trouble, t.lost, t.end = renewed, nil, nil, nil
}

// extend is that a renewal succeeded.
func (t *term) extend(renewed time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renewed, t.trouble = renewed, nil
}

// failed is that a renewal did not succeed.
func (t *term) failed(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trouble = why
}

// since is when the term was renewed last, zero where there is none.
func (t *term) since() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.renewed
}

// endsWith has the end of the term cancel a context.
func (t *term) endsWith(cancel context.CancelCauseFunc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = cancel
}

// elapsed is the time between two readings of our clock. A machine that sleeps
// stops the monotonic clock, and the other one may be set back: the one
// that says more counts.
func elapsed(since, now time.Time) time.Duration {
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// left is how long the lock is still ours: until a fifth of its duration before
// others may take it, so that requests under way end in time.
func (l *Lock) left() time.Duration {
	return l.Duration - l.Duration/margin - elapsed(l.term.since(), l.Now())
}

// Check tells by our own clock whether the lock is still ours; it asks no server.
// The error is a *LostError. A process that was stopped and goes on after others
// took the lock learns it here before it writes, and before it has asked for the
// Lease. Once the lock is lost, the context that Hold gave ends, and no later
// renewal brings it back.
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

// lose ends the term for good. The first reason stays.
func (l *Lock) lose(err error) error {
	l.term.mu.Lock()
	defer l.term.mu.Unlock()
	return l.term.lose(err)
}

// lose is Lock.lose for who holds the mutex.
func (t *term) lose(err error) error {
	if t.lost == nil {
		t.lost = err
	}
	if t.end != nil {
		t.end(t.lost)
	}
	return t.lost
}
