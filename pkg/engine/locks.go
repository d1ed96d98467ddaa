package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// locks keep other runs off the hubs of this one.
type locks struct {
	wanted, held []*lease.Lock
	waited       bool // for another run
	// ctx ends with the run, and before any of the locks is lost.
	ctx context.Context
}

// hubKeys are the hubs of a run.
func (j *applyJob) hubKeys() []lynq.HubKey {
	var keys []lynq.HubKey
	for _, h := range j.hubs {
		keys = append(keys, h.Key)
	}
	return keys
}

// newLocks are those of some hubs, in an order that two runs share, so that
// neither waits for the other for ever.
func (r *clusterRun) newLocks(ctx context.Context, hubs []lynq.HubKey) *locks {
	ls := &locks{ctx: ctx}
	identity := runIdentity()
	slices.SortFunc(hubs, lynq.HubKey.Compare)
	for _, p := range hubs {
		ls.wanted = append(ls.wanted, lease.NewLock(r.client.Leases(), lease.Options{
			Namespace: p.Namespace, Hub: p.Name, Identity: identity,
			Waiting: func(held *lease.HeldError) {
				ls.waited = true
				r.notef("waiting up to %s for %s on hub %q: %s; %s", r.run.LockTimeout, held.By(), held.Hub, held.Holder, held.Ends())
			},
		}))
	}
	return ls
}

// newContinuousLocks is newLocks for a hub that is kept until another run wants it.
func (r *clusterRun) newContinuousLocks(ctx context.Context, hub lynq.HubKey) *locks {
	return &locks{ctx: ctx, wanted: []*lease.Lock{lease.NewLock(r.client.Leases(), lease.Options{
		Namespace: hub.Namespace, Hub: hub.Name, Identity: runIdentity(), Continuous: true,
		Waiting: func(held *lease.HeldError) {
			r.metrics().Leading(hub, false)
			r.notef("hub %s: standing by: %s has it, %s; %s", hub, held.By(), held.Holder, held.Ends())
		},
	})}}
}

// lookPatience is for how long the rows wait for a look at the Leases.
const lookPatience = 3 * time.Second

// look takes note of the Leases before the rows are read. What cannot be seen
// counts as changed since, and who takes the lock says what is wrong: of a source
// that is broken people are told first, and without a cluster. The error is that
// of a context that ended.
func (ls *locks) look(ctx context.Context) error {
	patient, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	for _, l := range ls.wanted {
		if err := l.Look(patient); err != nil {
			if ctx.Err() == nil {
				err = nil
			}
			return err
		}
	}
	return nil
}

// changed tells whether another run may have had a hub since the look.
func (ls *locks) changed() bool { return slices.ContainsFunc(ls.held, (*lease.Lock).Changed) }

// withLocks does what changes hubs while no other run has them.
func (r *clusterRun) withLocks(ctx context.Context, hubs []lynq.HubKey, change func(*locks) error) error {
	ls := r.newLocks(ctx, hubs)
	defer func() { ls.release(ctx) }()
	if err := r.acquire(ctx, ls); err != nil {
		return err
	}
	return change(ls)
}

// acquire takes locks. What the run writes from then on is written only while it
// has all of them.
func (r *clusterRun) acquire(ctx context.Context, ls *locks) error {
	for _, l := range ls.wanted {
		err := l.Acquire(ctx, r.run.LockTimeout)
		if r.cleaning && lease.EndingNamespace(err) {
			continue // no other run can have the lock either
		}
		if err != nil {
			return r.notLocked(ctx, lynq.HubKey{Namespace: l.Namespace, Name: l.Hub}, err)
		}
		ls.held = append(ls.held, l)
		ls.ctx = l.Hold(ls.ctx)
	}
	r.client = r.client.While(ls.check)
	r.store = store.New(r.client.ConfigMaps())
	return nil
}

// check is an error where one of the locks is lost.
func (ls *locks) check() error {
	for _, l := range ls.held {
		if err := l.Check(); err != nil {
			return err
		}
	}
	return nil
}

// notLocked is a refusal where another run has the hub.
func (r *clusterRun) notLocked(ctx context.Context, hub lynq.HubKey, err error) error {
	var held *lease.HeldError
	if errors.As(err, &held) {
		return r.refuse([]plan.Refusal{{Guard: plan.GuardLock, Hub: hub, What: "it " + held.What(), Fix: held.Fix()}})
	}
	return untouched(ctx, inHubNamespace(hub, err))
}

// inHubNamespace is the error of a write of the hub's own records.
func inHubNamespace(hub lynq.HubKey, err error) error {
	if told := (*apply.NamespaceError)(nil); errors.As(apply.InNamespace(hub.Namespace, apply.OrAnotherNamespace, err), &told) {
		return fmt.Errorf("hub %s: %w", hub.Name, told)
	}
	return err
}

// discard has the lock of a hub that is no more deleted, when it is given back.
func (ls *locks) discard(p lynq.HubKey) {
	for _, l := range ls.held {
		if l.Namespace == p.Namespace && l.Hub == p.Name {
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
	return fmt.Sprintf("%s@%s pid %d %s", name, hostName(), os.Getpid(), strings.ToLower(rand.Text()[:6]))
}
