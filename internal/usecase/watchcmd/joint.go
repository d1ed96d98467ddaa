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
//   - If the rows then say that the object moves, this round takes the turns of both hubs, and
//     uses everything of the other hub.
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

// mayMove returns the objects of a round's plans that may move between its hub and other
// hubs. It returns none if the hub tried the same before, or waits for no other hub.
func (h *hubWatch) mayMove(alone *round) []sharedObject {
	shared := sharedObjectsOf(alone.plans)
	digest := digestOfShared(shared)
	if len(shared) == 0 || digest == h.sharedBefore && alone.job.Concern != nil || alone.began.Before(h.times.joinsFrom) {
		return nil
	}
	h.sharedBefore = digest
	return shared
}

// joint has a round of the hub with the hubs that exchange objects with it, as one. alone is
// the planned round of this hub. joint returns the round that the caller carries out: alone
// if no object moves, and another one if the hubs can't be planned together. It returns nil
// if the hub had its round.
func (h *hubWatch) joint(ctx context.Context, alone *round) (rest *round, err error) {
	t := alone.parts[0].term
	others, err := h.moving(ctx, t, h.mayMove(alone))
	if len(others) == 0 && err == nil {
		return alone, nil
	}
	alone.restoreChanges() // another round may have the hub now
	done := false
	if err == nil {
		done, err = h.withOthers(ctx, t, others)
	}
	switch {
	case done:
		return nil, err
	case err != nil: // this round tried nothing
		h.sharedBefore = ""
		h.changes.Wake()
		return nil, err
	}
	if rest = h.alone(t); rest != nil {
		err = rest.look(ctx)
	}
	return rest, err
}

// withOthers takes the turns of other hubs, and has a round with them. It returns false if
// all are busy, or if the hubs can't be planned together.
func (h *hubWatch) withOthers(ctx context.Context, t *term, others []*hubWatch) (done bool, err error) {
	for len(others) > 0 {
		joined, busy, err := h.takeTurns(ctx, t, others)
		switch {
		case err != nil:
			return false, err
		case busy == nil:
			return h.jointRound(ctx, t, joined)
		}
		h.ignores(busy)
		others = slices.DeleteFunc(others, func(o *hubWatch) bool { return o == busy })
	}
	return false, nil
}

// ignores has the hub wait for no other hub until it compares all nodes again.
func (h *hubWatch) ignores(busy *hubWatch) {
	h.times.joinsFrom = time.Now().Add(wholeEvery)
	h.w.engine.Notef("%s", busyNote(h.hub.Key, busy.hub.Key))
}

// moving makes the hubs that share objects with this one read their rows, and returns those
// whose rows say that an object moves. It ignores hubs that another run has, and hubs whose
// reading takes too long.
func (h *hubWatch) moving(ctx context.Context, own *term, shared []sharedObject) (others []*hubWatch, err error) {
	within, stop := context.WithTimeoutCause(ctx, joinWithin, errBusy)
	defer stop()
	reads, sharing := map[*hubWatch]<-chan error{}, h.w.sharing(h, shared)
	for _, other := range sharing {
		if other.joinable(h.hub.Key) {
			reads[other] = other.reads.ask()
		}
	}
	for _, other := range sharing {
		read, err := other.awaitRead(within, own, reads[other])
		switch {
		case errors.Is(err, errBusy):
			h.ignores(other)
		case err != nil:
			return nil, err
		case read && moves(shared, other.hub.Key, other.reads.nodes(other.hub.Key)):
			others = append(others, other)
		}
	}
	return others, nil
}

// awaitRead waits for a read of the hub's rows, for the hub of the term own. It returns false
// if the read failed, or if another run gets the hub.
func (h *hubWatch) awaitRead(ctx context.Context, own *term, result <-chan error) (read bool, err error) {
	t := h.runningTerm()
	if result == nil || t == nil {
		return false, nil
	}
	select {
	case err := <-result:
		return err == nil, nil // the reader logs an error
	default:
	}
	select {
	case err := <-result:
		return err == nil, nil
	case <-t.ctx.Done():
		return false, nil
	case <-own.wanted:
		return false, errYielded
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// jointRound carries out a round of the hub and others, and gives the others' turns up.
func (h *hubWatch) jointRound(ctx context.Context, t *term, joined []joinedHub) (done bool, err error) {
	now := time.Now()
	r := &round{began: now}
	for _, j := range joined {
		defer j.end()
		if p := j.part(j.term, now); p != nil {
			r.parts = append(r.parts, p)
		}
	}
	if len(r.parts) == 0 { // another run has the others now, or had them since
		return false, nil
	}
	r.parts = append([]*part{h.part(t, now)}, r.parts...)
	return r.performJoint(ctx)
}

// performJoint carries out a round of several hubs. It gives up if they can't be planned
// together, or if guards refuse everything of one. Then the hubs have their changes again.
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
		r.restoreChanges()
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
