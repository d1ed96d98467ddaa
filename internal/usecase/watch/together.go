package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Hubs have rounds of their own. Objects move from one hub to another in a round of both: it
// decides and writes as one apply of both hubs does, so that it has the same guards, and what
// a kill leaves is what it leaves of an apply.
//
//   - A round that finds an object which may move has the rows of the other hub read again.
//   - If the rows then say that it moves, the goroutine of the other hub lends the hub: it
//     waits, and lets this one use all that it has of the hub.
//   - A goroutine that waits for another one lends its own hub meanwhile, and then begins
//     anew. So two that wait for each other both go on.
//   - Where this process doesn't have the other hub, the object stays where it is.
//   - So it does where the other hub is busy for long: its source may never answer, and an
//     approved round may wait for finalizers. No hub stands still for another one.

// stake is an object that may move between the hub of a round and another one.
type stake struct {
	ref lynq.Ref
	// to is the hub that renders the object, zero where the hub of the round wants it from
	// another one that is called from.
	to   lynq.HubKey
	from string
}

// String names it in a digest of several.
func (s stake) String() string { return s.ref.String() + " " + s.to.String() + " " + s.from }

// with tells whether the object may move between the hub of the round and this one.
func (s stake) with(hub lynq.HubKey) bool {
	return s.to == hub || s.to == (lynq.HubKey{}) && s.from == hub.Name
}

// stakesOf lists the objects that may move between the hub of some plans and other hubs. It
// is a pure function.
func stakesOf(plans []plan.Plan) []stake {
	var stakes []stake
	for i := range plans {
		p := &plans[i]
		for k := range p.Nodes {
			for _, s := range p.Nodes[k].Steps {
				switch {
				case s.Elsewhere != (lynq.HubKey{}):
					stakes = append(stakes, stake{ref: s.Ref(), to: s.Elsewhere})
				case s.Object != nil && s.Action == plan.ActionBlock && s.Live != nil && s.Live.Hub != "" && s.Live.Hub != p.Hub.Name:
					stakes = append(stakes, stake{ref: s.Ref(), from: s.Live.Hub})
				}
			}
		}
	}
	return stakes
}

// moves tells whether an object moves between the hub of the stakes and another one, of which
// these are the nodes. It is a pure function.
func moves(stakes []stake, hub lynq.HubKey, nodes []*plan.Node) bool {
	wanted := map[lynq.Ref]bool{}
	for _, n := range nodes {
		for i := range n.Objects {
			wanted[n.Objects[i].Ref] = true
		}
		for _, ref := range n.Claims.Refs {
			wanted[ref] = true
		}
	}
	return slices.ContainsFunc(stakes, func(s stake) bool { return s.with(hub) && wanted[s.ref] == (s.to == hub) })
}

// digestOfStakes returns a text that two rounds share exactly if their stakes are the same.
func digestOfStakes(stakes []stake) string {
	lines := make([]string, len(stakes))
	for i, s := range stakes {
		lines[i] = s.String()
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// together plans the hub with those between which and it objects move, and carries that out.
// It returns false if there are none, or if the hubs can't be planned together. The caller
// then carries out the round of this hub alone.
func (h *hubWatch) together(ctx context.Context, alone *round) (done bool, err error) {
	stakes := stakesOf(alone.plans)
	digest := digestOfStakes(stakes)
	if len(stakes) == 0 || digest == h.tried && alone.job.Concern != nil || alone.began.Before(h.borrows) {
		return false, nil
	}
	h.tried = digest
	first := *alone.parts[0]
	r := &round{parts: []*part{&first}, began: alone.began}
	over := make(chan struct{})
	defer close(over)
	if err := r.gather(ctx, stakes, over); err != nil {
		h.tried = "" // nothing was tried
		r.giveBack()
		h.changes.Wake()
		return true, err
	}
	if len(r.parts) == 1 {
		return false, nil
	}
	first.rows = h.current() // which may be others by now
	h.wants(first.rows)
	return r.tryTogether(ctx)
}

// gather borrows the hubs between which and the one of the round objects move, until over is
// closed. It gives up where another run wants one of them that it has.
func (r *round) gather(ctx context.Context, stakes []stake, over chan struct{}) error {
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	first := r.parts[0]
	for _, other := range first.w.beside(first.hubWatch, stakes) {
		t, err := first.borrow(within, first.term, other, stakes, over)
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		r.parts = append(r.parts, other.part(t, r.began))
		go func() {
			select {
			case <-t.wanted:
				stop(errBeside)
			case <-within.Done():
			}
		}()
	}
	return nil
}

// tryTogether carries a round of several hubs out, unless they can't be planned together, or
// guards refuse all of one: then none waits for the other.
func (r *round) tryTogether(ctx context.Context) (done bool, err error) {
	first, others := r.parts[0], r.parts[1:]
	names := make([]string, len(others))
	for i, p := range others {
		names[i] = p.hub.Key.String()
	}
	if err = r.look(ctx); err == nil {
		r.hold()
		for _, refusal := range session.Refusals(r.plans) {
			err = errors.Join(err, fmt.Errorf("hub %s: %s", refusal.Hub, refusal.What))
		}
		err = errors.Join(err, plan.CheckSizes(r.plans))
	}
	if err != nil {
		first.w.engine.Notef("warning: hub %s: objects that move between it and %s stay where they are: %v", first.hub.Key, strings.Join(names, ", "), err)
		(&round{parts: others}).giveBack()
		return false, nil
	}
	first.w.engine.Notef("hub %s: objects move between it and %s, so this round is of both", first.hub.Key, strings.Join(names, ", "))
	if err = r.perform(ctx); cutShort(err) {
		first.tried = ""
	}
	return true, err
}

// giveBack has later rounds look at what changed.
func (r *round) giveBack() {
	for _, p := range r.parts {
		if p.all {
			p.changes.NoteAll()
		} else if len(p.objects) > 0 {
			p.changes.Note(slices.Collect(maps.Keys(p.objects))...)
		}
	}
}

// borrowWithin is how long a hub waits for another one that is busy: to read a great table
// takes most of it.
const borrowWithin = time.Minute

// borrow asks for a hub. It is nil also where that takes too long: then this hub does not wait
// for any, until it compares all nodes again.
func (h *hubWatch) borrow(ctx context.Context, own *term, other *hubWatch, stakes []stake, over chan struct{}) (*term, error) {
	within, stop := context.WithTimeoutCause(ctx, borrowWithin, errBusy)
	defer stop()
	t, err := h.ask(within, own, other, stakes, over)
	if errors.Is(err, errBusy) {
		h.borrows = time.Now().Add(wholeEvery)
		h.w.engine.Notef("%s", busyNote(h.hub.Key, other.hub.Key))
		return nil, nil
	}
	return t, err
}

// ask has the goroutine of another hub read the rows of that, and lend the hub until over
// is closed, if an object moves. It is nil where none does, or where this process doesn't
// have the hub.
func (h *hubWatch) ask(ctx context.Context, own *term, other *hubWatch, stakes []stake, over chan struct{}) (*term, error) {
	t := other.lender(h.hub.Key)
	if t == nil {
		return nil, nil
	}
	read := make(chan error, 1)
	if met, err := meet(ctx, h, own, t, other.readNow, read); !met {
		return nil, err
	}
	select {
	case <-t.ctx.Done():
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-own.wanted:
		return nil, errYielded
	case err := <-read:
		rows := other.current()
		if err != nil || rows == nil || !moves(stakes, other.hub.Key, rows.Nodes[other.hub.Key]) {
			return nil, nil //nolint:nilerr // the reader logged it, and this hub carries out its own round
		}
	}
	other.changes.Wake() // which ends a round that waits
	if met, err := meet(ctx, h, own, t, other.lends, over); !met {
		return nil, err
	}
	return t, nil
}

// meet gives a value to a goroutine of another hub, whose Lease this process has until the
// term t ends. It is false where that does not come, for whatever else the hub has to do.
func meet[T any](ctx context.Context, h *hubWatch, own, t *term, to chan<- T, value T) (met bool, err error) {
	select {
	case to <- value:
		return true, nil
	case <-t.ctx.Done():
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-own.wanted:
		return false, errYielded
	case over := <-h.lends:
		<-over
		return false, errNewChanges
	}
}

// lender returns the term of the hub, or nil if another run has the hub, or nobody has read
// its rows yet. In both cases lender remembers the borrower, and tellBorrowers wakes it later.
func (h *hubWatch) lender(borrower lynq.HubKey) *term {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.term == nil || h.rows == nil {
		if !slices.Contains(h.missed, borrower) {
			h.missed = append(h.missed, borrower)
		}
		return nil
	}
	return h.term
}

// tellBorrowers tells hubs that would have had a round with this one.
func (h *hubWatch) tellBorrowers() {
	h.mu.Lock()
	missed := h.missed
	h.missed = nil
	h.mu.Unlock()
	for _, other := range h.w.others(h) {
		if slices.Contains(missed, other.hub.Key) {
			other.changes.NoteAll()
		}
	}
}

// others are the other hubs that this process keeps, in the order of their keys.
func (w *watching) others(h *hubWatch) []*hubWatch {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.hubs), func(other *hubWatch) bool { return other == h })
}

// beside are those of the others with which objects may move.
func (w *watching) beside(h *hubWatch, stakes []stake) []*hubWatch {
	return slices.DeleteFunc(w.others(h), func(other *hubWatch) bool {
		return !slices.ContainsFunc(stakes, func(s stake) bool { return s.with(other.hub.Key) })
	})
}
