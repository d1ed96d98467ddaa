package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lynqctl/lynqctl/internal/ownprocess"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Locks keep other runs off the hubs of this run.
type Locks struct {
	wanted, Held []*lease.Lock
	// shards are the locks of the run's shard, one for each hub. A run of whole hubs has
	// none.
	shards []*lease.Lock
	waited atomic.Bool // for another run
	// joined is set if runs of shards had a hub when this run took its lock. They may have
	// written since Look.
	joined bool
	// terms are those of a hub that the run keeps, or nil.
	terms *Terms
	// Ctx ends with the run, or before the run loses any lock.
	Ctx context.Context
}

// Waited reports whether the run waited for another one.
func (ls *Locks) Waited() bool { return ls.waited.Load() }

// NewLocks returns the locks of hubs, in an order that all runs share, so that two runs
// can't wait for each other.
func (r *Run) NewLocks(ctx context.Context, hubs []lynq.HubKey) *Locks {
	ls := &Locks{Ctx: ctx}
	slices.SortFunc(hubs, lynq.HubKey.Compare)
	for _, hub := range hubs {
		ls.wanted = append(ls.wanted, r.newLock(ls, hub, lynq.Shard{}))
		if shard := r.RunOptions.LockShard; !shard.IsZero() {
			ls.shards = append(ls.shards, r.newLock(ls, hub, shard))
		}
	}
	return ls
}

// newLock returns the lock of a hub, or of a shard of it.
func (r *Run) newLock(ls *Locks, hub lynq.HubKey, shard lynq.Shard) *lease.Lock {
	return lease.NewLock(r.Client.Leases(), lease.Options{
		Hub: hub, Shard: shard, Identity: r.identity(), Ended: r.Ended, Discarded: r.discarded(hub),
		Waiting: func(held *lease.HeldError) {
			ls.waited.Store(true)
			r.Engine.Notef("waiting up to %s for %s on hub %q: %s; %s", r.RunOptions.LockTimeout, held.By(), held.Hub.Name, held.Holder, held.Ends())
		},
	})
}

// Terms are the identities under which earlier runs of this process had a hub's Lease, or
// may have had it. All of these runs have ended.
type Terms []string

// began drops the earlier terms, because the Lease names the last one now.
func (t *Terms) began() { *t = (*t)[len(*t)-1:] }

// NewContinuousLocks works like NewLocks, for a hub that the run keeps until another run
// wants it. A Lease that still names one of the terms is free, because this process could
// not release it. The locks add their own term.
func (r *Run) NewContinuousLocks(ctx context.Context, hub lynq.HubKey, terms *Terms) *Locks {
	identity := r.identity()
	earlier := slices.Clone(*terms)
	*terms = append(*terms, identity)
	return &Locks{Ctx: ctx, terms: terms, wanted: []*lease.Lock{lease.NewLock(r.Client.Leases(), lease.Options{
		Hub: hub, Identity: identity, Continuous: true, Discarded: r.discarded(hub),
		Ended: func(identity string) bool { return slices.Contains(earlier, identity) || r.Ended(identity) },
		Waiting: func(held *lease.HeldError) {
			r.Engine.Meter().Leading(hub, false)
			r.Engine.Notef("hub %s: standing by: %s has it, %s; %s", hub, held.By(), held.Holder, held.Ends())
		},
	})}}
}

// lookPatience limits how long Look delays reading the rows.
const lookPatience = 3 * time.Second

// Look notes the state of the Leases before the run reads rows. A Lease that can't be read
// counts as changed. Look hides such errors: Acquire reports them later, so that errors of
// the source come first. It returns an error only if ctx ended.
func (ls *Locks) Look(ctx context.Context) error {
	patient, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	for _, l := range slices.Concat(ls.wanted, ls.shards) {
		if err := l.Look(patient); err != nil {
			if ctx.Err() == nil {
				err = nil
			}
			return err
		}
	}
	return nil
}

// Changed reports whether another run may have had a hub since Look.
func (ls *Locks) Changed() bool {
	return ls.joined || slices.ContainsFunc(slices.Concat(ls.wanted, ls.shards), (*lease.Lock).Changed)
}

// LookFree reports whether Look saw that no other run has the hubs.
func (ls *Locks) LookFree() bool {
	return !slices.ContainsFunc(slices.Concat(ls.wanted, ls.shards), func(l *lease.Lock) bool { return !l.LooksFree() })
}

// Acquire takes the locks. From then on, the run writes only while it has all of them.
func (r *Run) Acquire(ctx context.Context, ls *Locks) error {
	for i, l := range ls.wanted {
		take := func() error { return r.acquire(ctx, ls, l) }
		if ls.shards != nil {
			take = func() error { return r.enter(ctx, ls, l, ls.shards[i]) }
		}
		err := take()
		if r.Cleaning && lease.EndingNamespace(err) {
			continue // no other run can take the lock either
		}
		if err != nil {
			return r.notLocked(ctx, l.Hub, err)
		}
	}
	r.Client = r.Client.While(ls.check)
	r.Store = store.New(r.Client.ConfigMaps())
	return nil
}

// acquire takes the lock of a hub, and waits until runs of its shards have ended. No new
// one begins while we have the lock.
func (r *Run) acquire(ctx context.Context, ls *Locks, hub *lease.Lock) error {
	if err := hub.Acquire(ctx, r.RunOptions.LockTimeout); err != nil {
		return err
	}
	if ls.terms != nil {
		ls.terms.began()
	}
	ls.Held = append(ls.Held, hub)
	entered, err := hub.Entered()
	if err != nil {
		return err
	}
	if ls.Ctx = hub.Hold(ls.Ctx); len(entered) == 0 {
		return nil
	}
	if err := r.awaitShards(ls.Ctx, ls, hub.Hub, entered); err != nil {
		return err
	}
	hub.ForgetEntered()
	return nil
}

// enter takes the lock of a shard, and briefly that of its hub. It waits until runs with
// another number of shards have ended. So no run of the whole hub is active then, and all
// shards have the same count.
func (r *Run) enter(ctx context.Context, ls *Locks, hub, shard *lease.Lock) error {
	if err := shard.Acquire(ctx, r.RunOptions.LockTimeout); err != nil {
		return err
	}
	ls.Held = append(ls.Held, shard)
	ls.Ctx = shard.Hold(ls.Ctx)
	if err := hub.Acquire(ls.Ctx, r.RunOptions.LockTimeout); err != nil {
		return err
	}
	entered, err := hub.Entered()
	held := hub.Hold(ls.Ctx)
	var others []lease.Entered
	me := []lease.Entered{{Index: shard.Shard.Index, Count: shard.Shard.Count, Holder: shard.Identity}}
	for _, e := range entered {
		switch {
		case e.Count != shard.Shard.Count:
			others = append(others, e)
		case e.Index != shard.Shard.Index: // the same index belongs to an earlier run of this shard, which has ended
			me = append(me, e)
		}
	}
	if err == nil {
		err = r.awaitShards(held, ls, hub.Hub, others)
	}
	if err != nil {
		ls.Held = append(ls.Held, hub) // Release releases it with the others
		return err
	}
	if err := hub.Enter(ls.Ctx, me); err != nil {
		return err
	}
	shard.Join()
	return nil
}

// awaitShards waits until runs of shards have ended.
func (r *Run) awaitShards(ctx context.Context, ls *Locks, hub lynq.HubKey, entered []lease.Entered) error {
	ls.joined = ls.joined || len(entered) > 0
	all, ctx := errgroup.WithContext(ctx)
	for _, e := range entered {
		l := r.newLock(ls, hub, e.Shard())
		all.Go(func() error { return l.AwaitEnd(ctx, e.Holder, r.RunOptions.LockTimeout) })
	}
	return all.Wait()
}

// check returns an error if the run lost one of its locks.
func (ls *Locks) check() error {
	for _, l := range ls.Held {
		if err := l.Check(); err != nil {
			return err
		}
	}
	return nil
}

// notLocked returns a refusal if another run has the hub. It returns any other error as it
// is.
func (r *Run) notLocked(ctx context.Context, hub lynq.HubKey, err error) error {
	var held *lease.HeldError
	if errors.As(err, &held) {
		return r.Refuse([]plan.Refusal{{Guard: plan.GuardLock, Hub: hub, What: "it " + held.What(), Fix: held.Fix()}})
	}
	var contended *lease.ContendedError
	if errors.As(err, &contended) {
		return r.Refuse([]plan.Refusal{{Guard: plan.GuardLock, Hub: hub, What: "it " + contended.What(), Fix: contended.Fix()}})
	}
	return Untouched(ctx, r.inHubNamespace(ctx, hub, err))
}

// inHubNamespace adds the hub's name to an error about its namespace, and why the namespace
// still terminates.
func (r *Run) inHubNamespace(ctx context.Context, hub lynq.HubKey, err error) error {
	told := (*write.NamespaceError)(nil)
	if !errors.As(write.InNamespace(hub.Namespace, write.OrAnotherNamespace, err), &told) {
		return err
	}
	if told.Terminating {
		told.Why = r.WhyTerminating(ctx, hub.Namespace)
	}
	return fmt.Errorf("hub %s: %w", hub.Name, told)
}

// WhyTerminating returns the conditions of a terminating namespace, or "" if it can't be
// read.
func (r *Run) WhyTerminating(ctx context.Context, namespace string) string {
	o, err := r.Client.Get(ctx, lynq.APIResource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}, "", namespace)
	if err != nil {
		return ""
	}
	return ready.EndingConditions(o)
}

// Discard makes Release delete the lock of a deleted hub.
func (ls *Locks) Discard(p lynq.HubKey) {
	for _, l := range ls.Held {
		if l.Hub == p {
			l.Discard()
		}
	}
}

// Return makes Release say that the run comes back, as a watch does.
func (ls *Locks) Return() {
	for _, l := range ls.Held {
		l.Returns()
	}
}

// Yielded returns the identity of the watch that comes back when this run releases a hub's
// lock, or "".
func (ls *Locks) Yielded(hub lynq.HubKey) string {
	for _, l := range ls.Held {
		if l.Hub == hub {
			return l.Yielded()
		}
	}
	return ""
}

// Release releases the locks, even after an interruption. It returns why other runs may
// still find Leases of this run.
func (ls *Locks) Release(ctx context.Context) (unreleased []error) {
	grace := releaseGrace
	if ctx.Err() != nil {
		grace = interruptedReleaseGrace
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	for _, l := range slices.Backward(ls.Held) {
		_ = l.Release(ctx) // Unreleased tells of it
	}
	for _, l := range slices.Concat(ls.wanted, ls.shards) {
		if err := l.Unreleased(); err != nil {
			unreleased = append(unreleased, err)
		}
	}
	return unreleased
}

// release releases the locks, and shows which ones still keep other runs waiting.
func (r *Run) release(ctx context.Context, ls *Locks) {
	for _, err := range ls.Release(ctx) {
		r.Engine.Notef("warning: lynqctl %v", err)
	}
}

// discarded returns a function that reports whether the run that had a hub's Lease deleted
// it together with the hub record.
func (r *Run) discarded(hub lynq.HubKey) func(context.Context) bool {
	records := r.Store
	return func(ctx context.Context) bool {
		record, err := records.LoadHub(ctx, hub.Namespace, hub.Name)
		return err == nil && record == nil
	}
}

// podUIDVariable is the environment variable with the uid of the pod that runs lynqctl.
// Only one container of a pod may set it. See lease.Ended.
const podUIDVariable = "LYNQCTL_POD_UID"

// runName returns a unique name for this run that people can read.
func runName() string {
	return fmt.Sprintf("%s pid %d %s", Who(), os.Getpid(), strings.ToLower(rand.Text()[:6]))
}

// Who returns the user and the machine of this process.
func Who() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return name + "@" + HostName()
}

// identity returns the run's name with its process.
func (r *Run) identity() string { return lease.Identity(r.Name, thisProcess()) }

// Ended reports whether the run of an identity has certainly ended.
func (*Run) Ended(identity string) bool {
	return lease.Ended(identity, thisProcess(), ownprocess.Runs)
}

func thisProcess() lease.Process { return ownprocess.Self(os.Getenv(podUIDVariable)) }
