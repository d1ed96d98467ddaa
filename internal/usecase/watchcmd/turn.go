package watchcmd

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// turn is the right to use a hub: to plan it, to write its objects, and to end its term. One
// goroutine at a time has it. Create it with newTurn.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn. It returns the cause if the context ends before, and errYielded if
// another run wants the hub. With a nil wanted, no run does.
func (t turn) take(ctx context.Context, wanted <-chan struct{}) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-wanted:
		return errYielded
	}
}

// wait waits for the turn, however long another round has it.
func (t turn) wait() { t <- struct{}{} }

// takeFree takes the turn if nobody has it.
func (t turn) takeFree() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// end gives the turn up.
func (t turn) end() { <-t }

// joinWithin limits how long a hub waits for other hubs. Reading a large table takes most of
// it.
const joinWithin = time.Minute

// errBusy says that another hub took too long.
var errBusy = errors.New("the other hub is busy")

// joinedHub is a hub whose turn a round has, in addition to the turn of its own hub.
type joinedHub struct {
	*hubWatch
	term *term
}

// end gives the turn up. The round may have changed the hub's timers, so end wakes the hub.
func (j joinedHub) end() {
	j.turn.end()
	j.changes.Signal()
}

// takeTurns takes the turns of other hubs, except for hubs that another run has. h must have
// its own turn. takeTurns gives that up, and takes all turns in the order of the hubs' keys,
// so that no two rounds wait for each other. When it returns, h has its turn again.
//
// If a hub is busy for long, takeTurns takes no other hub, and returns the busy one. The error
// says why h must stop waiting.
func (h *hubWatch) takeTurns(ctx context.Context, own *term, others []*hubWatch) (joined []joinedHub, busy *hubWatch, err error) {
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timed, cancel := context.WithTimeoutCause(within, joinWithin, errBusy)
	defer cancel()
	own.whenWanted(within, func() { stop(errYielded) })
	h.turn.end()
	for _, hub := range sortedHubs(append(slices.Clone(others), h)) {
		if err := hub.takeTurn(timed); err != nil {
			for _, j := range joined {
				j.end()
			}
			h.turn.wait()
			switch {
			case !errors.Is(err, errBusy):
				return nil, nil, err
			case hub == h:
				return nil, nil, errNewChanges // a round of other hubs has this one
			}
			return nil, hub, nil
		}
		t := hub.runningTerm()
		switch {
		case hub == h:
			t = own
		case t == nil:
			hub.turn.end()
			continue
		default:
			t.whenWanted(within, func() { stop(errJoinedHub) })
		}
		joined = append(joined, joinedHub{hub, t})
	}
	return slices.DeleteFunc(joined, func(j joinedHub) bool { return j.hubWatch == h }), nil, nil
}

// takeTurn takes the turn of the hub for a round of several hubs. A round that has it and
// waits for objects ends early.
func (h *hubWatch) takeTurn(ctx context.Context) error {
	if h.turn.takeFree() {
		return nil
	}
	h.changes.Wake()
	return h.turn.take(ctx, nil)
}

// whenWanted calls do once another run wants the hub or the term ends, unless the context
// ends before.
func (t *term) whenWanted(ctx context.Context, do func()) {
	go func() {
		select {
		case <-t.wanted:
			do()
		case <-t.ctx.Done():
			do()
		case <-ctx.Done():
		}
	}()
}

// sortedHubs sorts hubs by their keys.
func sortedHubs(hubs []*hubWatch) []*hubWatch {
	slices.SortFunc(hubs, func(a, b *hubWatch) int { return a.hub.Key.Compare(b.hub.Key) })
	return hubs
}

// begins sets the term of the hub, nil for none. It waits for a round that has the hub, so
// that no round has it after its Lease is returned.
func (h *hubWatch) begins(t *term) {
	h.turn.wait()
	defer h.turn.end()
	if t != nil {
		h.forget()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.term = t
}

// runningTerm returns the term of the hub. It returns nil if another run has the hub.
func (h *hubWatch) runningTerm() *term {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.term == nil || h.term.ctx.Err() != nil {
		return nil
	}
	return h.term
}

// joinable reports whether the hub may have a round with a joiner. It returns false if
// another run has the hub, or nobody has read its rows yet. Then it remembers the joiner,
// and wakeJoiners wakes it later.
func (h *hubWatch) joinable(joiner lynq.HubKey) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.term != nil && h.reads.any() {
		return true
	}
	if !slices.Contains(h.joiners, joiner) {
		h.joiners = append(h.joiners, joiner)
	}
	return false
}

// wakeJoiners wakes hubs that wanted a round with this one.
func (h *hubWatch) wakeJoiners() {
	h.mu.Lock()
	joiners := h.joiners
	h.joiners = nil
	h.mu.Unlock()
	for _, other := range h.w.others(h) {
		if slices.Contains(joiners, other.hub.Key) {
			other.changes.NoteAll()
		}
	}
}
