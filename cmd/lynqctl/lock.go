package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// locks keep other runs off the hubs of this one.
type locks struct {
	held []*inventory.Lock
	// ctx ends with the run, and before any of the locks is lost.
	ctx context.Context
}

// place is where a hub's own records are.
type place struct{ namespace, hub string }

// places are those of the hubs of a run.
func (j *applyJob) places() ([]place, error) {
	var places []place
	for _, h := range j.hubs {
		namespace, err := j.flags.hubNamespace(h.hub)
		if err != nil {
			return nil, err
		}
		places = append(places, place{namespace, h.hub.Name})
	}
	return places, nil
}

// lock takes the locks of all hubs, in an order that two runs share, so that
// neither waits for the other for ever. It tells whether it had to wait.
func (r *clusterRun) lock(ctx context.Context, places []place) (*locks, bool, error) {
	ls := &locks{ctx: ctx}
	waited := false
	identity := runIdentity()
	slices.SortFunc(places, func(a, b place) int {
		return strings.Compare(a.namespace+"/"+a.hub, b.namespace+"/"+b.hub)
	})
	for _, p := range places {
		l := inventory.NewLock(r.client.Leases(), inventory.LockOptions{
			Namespace: p.namespace, Hub: p.hub, Identity: identity,
			Waiting: func(held *inventory.HeldError) {
				waited = true
				_, _ = fmt.Fprintf(r.stderr, "waiting up to %s for another run on hub %q: %s\n", r.run.lockTimeout, held.Hub, held.Holder)
			},
		})
		err := l.Acquire(ctx, r.run.lockTimeout)
		if r.cleaning && endingNamespace(err) {
			continue // no other run can have the lock either
		}
		if err != nil {
			return ls, waited, r.notLocked(ctx, p.hub, err)
		}
		ls.held = append(ls.held, l)
		ls.ctx = l.Hold(ls.ctx)
	}
	return ls, waited, nil
}

// notLocked is a refusal where another run has the hub.
func (r *clusterRun) notLocked(ctx context.Context, hub string, err error) error {
	var held *inventory.HeldError
	if errors.As(err, &held) {
		return r.refuse([]apply.Refusal{{Guard: apply.GuardLock, Hub: hub, What: "it " + held.What(), Fix: held.Fix()}})
	}
	return untouched(ctx, err)
}

// discard has the lock of a hub that is no more deleted, when it is given back.
func (ls *locks) discard(p place) {
	for _, l := range ls.held {
		if l.Namespace == p.namespace && l.Hub == p.hub {
			l.Discard()
		}
	}
}

// release gives the locks back, also after an interruption.
func (ls *locks) release(ctx context.Context) {
	grace := releaseGrace
	if ctx.Err() != nil {
		grace = interruptedReleaseGrace
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	for _, l := range slices.Backward(ls.held) {
		_ = l.Release(ctx) // it becomes free by itself
	}
}

// runIdentity names this run to people, and no other run.
func runIdentity() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s@%s pid %d %s", name, host, os.Getpid(), strings.ToLower(rand.Text()[:6]))
}
