package watchcmd

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

// Each hub has its own rounds. Objects move between hubs in a round of both hubs. That
// round decides and writes like one apply of both hubs, so it has the same guards. A killed
// round leaves the same state as a killed apply.
//
//   - A round that finds an object which may move makes the other hub read its rows again.
//   - If the rows then say that the object moves, the other hub joins the round. Its
//     goroutine waits, and this round uses everything of the other hub.
//   - A goroutine that waits for another hub lets its own hub join a round meanwhile, and then
//     starts again. So two hubs that wait for each other both continue.
//   - If another process has the other hub, the object stays with its owner.
//   - The same happens if the other hub is busy for long: its source may never answer, and
//     an approved round may wait for finalizers. No hub stops because of another one.

// sharedObject is an object that may move between the hub of a round and another hub.
type sharedObject struct {
	ref lynq.Ref
	// to is the hub that renders the object. It is zero if the hub of the round wants the
	// object from another hub, which is named from.
	to   lynq.HubKey
	from string
}

// String returns the object's line in a digest.
func (s sharedObject) String() string { return s.ref.String() + " " + s.to.String() + " " + s.from }

// with reports whether the object may move between the hub of the round and this hub.
func (s sharedObject) with(hub lynq.HubKey) bool {
	return s.to == hub || s.to == (lynq.HubKey{}) && s.from == hub.Name
}

// sharedObjectsOf lists the objects that may move between the hub of some plans and other
// hubs. It is a pure function.
func sharedObjectsOf(plans []plan.Plan) []sharedObject {
	var shared []sharedObject
	for i := range plans {
		p := &plans[i]
		for k := range p.Nodes {
			for _, s := range p.Nodes[k].Steps {
				switch {
				case s.Elsewhere != nil:
					shared = append(shared, sharedObject{ref: s.Ref(), to: *s.Elsewhere})
				case s.Object != nil && s.Action == plan.ActionBlock && s.Live != nil && s.Live.Hub != "" && s.Live.Hub != p.Hub.Name:
					shared = append(shared, sharedObject{ref: s.Ref(), from: s.Live.Hub})
				}
			}
		}
	}
	return shared
}

// moves reports whether an object moves between the hub of the shared objects and another hub with
// these nodes. It is a pure function.
func moves(shared []sharedObject, hub lynq.HubKey, nodes []*plan.Node) bool {
	wanted := map[lynq.Ref]bool{}
	for _, n := range nodes {
		for i := range n.Objects {
			wanted[n.Objects[i].Ref] = true
		}
		for _, ref := range n.Claims.Refs {
			wanted[ref] = true
		}
	}
	return slices.ContainsFunc(shared, func(s sharedObject) bool { return s.with(hub) && wanted[s.ref] == (s.to == hub) })
}

// digestOfShared returns a text that two rounds share exactly if they share the same objects.
func digestOfShared(shared []sharedObject) string {
	lines := make([]string, len(shared))
	for i, s := range shared {
		lines[i] = s.String()
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// joinHubs plans the hub with the hubs that exchange objects with it, and carries the plans
// out. It returns false if there are none, or if the hubs can't be planned together. The
// caller then carries out the round of this hub alone.
func (h *hubWatch) joinHubs(ctx context.Context, alone *round) (done bool, err error) {
	shared := sharedObjectsOf(alone.plans)
	digest := digestOfShared(shared)
	if len(shared) == 0 || digest == h.sharedBefore && alone.job.Concern != nil || alone.began.Before(h.times.joinsFrom) {
		return false, nil
	}
	h.sharedBefore = digest
	first := *alone.parts[0]
	r := &round{parts: []*part{&first}, began: alone.began}
	over := make(chan struct{})
	defer close(over)
	if err := r.joinOthers(ctx, shared, over); err != nil {
		h.sharedBefore = "" // this round tried nothing
		r.restoreChanges()
		h.changes.Wake()
		return true, err
	}
	if len(r.parts) == 1 {
		return false, nil
	}
	first.rows = h.reads.current() // a newer read may have come
	h.nodes.wants(first.rows.wanted)
	return r.performJoint(ctx)
}

// joinOthers makes the hubs that exchange objects with the round's hub join it, until over
// closes. It gives up if another run wants one of them that it has.
func (r *round) joinOthers(ctx context.Context, shared []sharedObject, over chan struct{}) error {
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	first := r.parts[0]
	for _, other := range first.w.sharing(first.hubWatch, shared) {
		t, err := first.joinInTime(within, first.term, other, shared, over)
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
				stop(errJoinedHub)
			case <-within.Done():
			}
		}()
	}
	return nil
}

// performJoint carries out a round of several hubs. It gives up if they can't be planned
// together, or if guards refuse everything of one, so that no hub waits for another.
func (r *round) performJoint(ctx context.Context) (done bool, err error) {
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
		(&round{parts: others}).restoreChanges()
		return false, nil
	}
	first.w.engine.Notef("hub %s: objects move between it and %s, so this round is of both", first.hub.Key, strings.Join(names, ", "))
	if err = r.perform(ctx); cutShort(err) {
		first.sharedBefore = ""
	}
	return true, err
}

// restoreChanges returns the changes to the hubs, for later rounds.
func (r *round) restoreChanges() {
	for _, p := range r.parts {
		if p.all {
			p.changes.NoteAll()
		} else if len(p.objects) > 0 {
			p.changes.Note(slices.Collect(maps.Keys(p.objects))...)
		}
	}
}

// joinWithin limits how long a hub waits for a busy one. Reading a large table takes most
// of it.
const joinWithin = time.Minute

// joinInTime makes another hub join. It returns nil if that takes too long. Then this hub waits
// for no other until it compares all nodes again.
func (h *hubWatch) joinInTime(ctx context.Context, own *term, other *hubWatch, shared []sharedObject, over chan struct{}) (*term, error) {
	within, stop := context.WithTimeoutCause(ctx, joinWithin, errBusy)
	defer stop()
	t, err := h.join(within, own, other, shared, over)
	if errors.Is(err, errBusy) {
		h.times.joinsFrom = time.Now().Add(wholeEvery)
		h.w.engine.Notef("%s", busyNote(h.hub.Key, other.hub.Key))
		return nil, nil
	}
	return t, err
}

// join makes the goroutine of another hub read its rows. If an object moves, the hub joins the
// round of this one until over closes. It returns nil if no object moves, or if this process doesn't have
// the hub.
func (h *hubWatch) join(ctx context.Context, own *term, other *hubWatch, shared []sharedObject, over chan struct{}) (*term, error) {
	t := other.joinable(h.hub.Key)
	if t == nil {
		return nil, nil
	}
	read := other.reads.ask()
	select {
	case <-t.ctx.Done():
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-own.wanted:
		return nil, errYielded
	case err := <-read:
		rows := other.reads.current()
		if err != nil || rows == nil || !moves(shared, other.hub.Key, rows.Nodes[other.hub.Key]) {
			return nil, nil //nolint:nilerr // the reader logged it, and this hub carries out its own round
		}
	}
	other.changes.Wake() // this ends a round that waits
	if met, err := offer(ctx, h, own, t, other.joins, over); !met {
		return nil, err
	}
	return t, nil
}

// offer passes a value to the goroutine of another hub, whose Lease this process has until
// the term t ends. met is false if the goroutine doesn't take the value. err is set if this
// hub must stop waiting: its own work ends, another run wants it, or it joined a round.
func offer[T any](ctx context.Context, h *hubWatch, own, t *term, to chan<- T, value T) (met bool, err error) {
	select {
	case to <- value:
		return true, nil
	case <-t.ctx.Done():
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-own.wanted:
		return false, errYielded
	case over := <-h.joins:
		<-over
		return false, errNewChanges
	}
}

// joinable returns the term of the hub, or nil if another run has the hub, or nobody has read
// its rows yet. In both cases joinable remembers the joiner, and wakeJoiners wakes it later.
func (h *hubWatch) joinable(joiner lynq.HubKey) *term {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.term == nil || !h.reads.any() {
		if !slices.Contains(h.joiners, joiner) {
			h.joiners = append(h.joiners, joiner)
		}
		return nil
	}
	return h.term
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

// others returns the other hubs of this process, in the order of their keys.
func (w *watching) others(h *hubWatch) []*hubWatch {
	return slices.DeleteFunc(w.all(), func(other *hubWatch) bool { return other == h })
}

// all returns the hubs of this process, in the order of their keys.
func (w *watching) all() []*hubWatch {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.hubs)
}

// sharing returns the other hubs that may exchange objects with this one.
func (w *watching) sharing(h *hubWatch, shared []sharedObject) []*hubWatch {
	return slices.DeleteFunc(w.others(h), func(other *hubWatch) bool {
		return !slices.ContainsFunc(shared, func(s sharedObject) bool { return s.with(other.hub.Key) })
	})
}
