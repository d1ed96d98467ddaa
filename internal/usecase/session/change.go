package session

import (
	"context"
	"errors"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Change is what a use case does that changes a cluster, step by step. Perform has the
// order of the steps; a use case fills in what differs. P is what its look found and
// planned.
type Change[P any] struct {
	// Early, where it is not nil, takes the Leases before the look.
	Early *Early
	// Look reads what there is, plans, and gives what guards have against the plan.
	// ErrNothing ends the run where there is nothing to do.
	Look func(ctx context.Context) (P, []plan.Refusal, error)
	// Try is all that a dry run does with the plan.
	Try func(ctx context.Context, p P) error
	// Ask asks a person, and gives the plan that the person agreed to. Nil asks nothing.
	Ask func(ctx context.Context, p P) (P, error)
	// Hubs are those that no other run may change meanwhile. Nil is that the preconditions
	// of the writes are enough, or that Early took the Leases.
	Hubs func(p P) []lynq.HubKey
	// Again looks again while no other run has the hubs. Nil keeps the plan.
	Again func(ctx context.Context, ls *Locks, agreed P) (P, []plan.Refusal, error)
	// More tells whether the plan now has what nobody agreed to, so that Ask asks again.
	// Nil is that Again leaves such things out.
	More func(agreed, now P) bool
	// Do carries the plan out.
	Do func(ctx context.Context, ls *Locks, p P) error
}

// Early is a change whose hubs are known before the look, which is too dear to be done
// twice: it is done once, while no other run has the hubs.
type Early struct {
	Hubs []lynq.HubKey
	// Read reads what no Lease protects, and Check gives what guards have against it before
	// any Lease is written. What was read before another run ended may be older than what
	// that run did, and is read again.
	Read  func(ctx context.Context) error
	Check func(ctx context.Context) ([]plan.Refusal, error)
}

// ErrNothing is that there is nothing to do, which a use case told a person.
var ErrNothing = errors.New("there is nothing to do")

// Perform makes a change: look, refuse, ask, take the Leases, look again, refuse, and
// carry out. A dry run looks, refuses, and tries.
func Perform[P any](ctx context.Context, r *Run, c *Change[P]) error {
	perform := c.perform
	if c.Early != nil {
		perform = c.early
	}
	if err := perform(ctx, r); !errors.Is(err, ErrNothing) {
		return err
	}
	return nil
}

func (c *Change[P]) perform(ctx context.Context, r *Run) error {
	p, refusals, err := c.Look(ctx)
	if err == nil {
		err = r.Refuse(refusals)
	}
	if err != nil {
		return err
	}
	if r.RunOptions.Mode != ModeRun {
		return c.Try(ctx, p)
	}
	if p, err = c.ask(ctx, p); err != nil {
		return err
	}
	if c.Hubs == nil {
		return c.Do(ctx, nil, p)
	}
	ls := r.NewLocks(ctx, c.Hubs(p))
	defer func() { ls.Release(ctx) }()
	if err := r.Acquire(ctx, ls); err != nil {
		return err
	}
	return c.locked(r, ls, p)
}

// locked looks again and carries out, while no other run has the hubs.
func (c *Change[P]) locked(r *Run, ls *Locks, agreed P) error {
	if c.Again == nil {
		return c.Do(ls.Ctx, ls, agreed)
	}
	p, refusals, err := c.Again(ls.Ctx, ls, agreed)
	if err == nil {
		err = r.Refuse(refusals)
	}
	if err == nil && c.More != nil && c.More(agreed, p) {
		p, err = c.ask(ls.Ctx, p)
	}
	if err != nil {
		return err
	}
	return c.Do(ls.Ctx, ls, p)
}

// early reads, takes the Leases, and looks once.
func (c *Change[P]) early(ctx context.Context, r *Run) error {
	rest := *c
	rest.Early, rest.Hubs = nil, nil
	if r.RunOptions.Mode != ModeRun {
		if err := c.Early.Read(ctx); err != nil {
			return err
		}
		return rest.perform(ctx, r)
	}
	ls := r.NewLocks(ctx, c.Early.Hubs)
	if err := ls.Look(ctx); err != nil {
		return Untouched(ctx, err)
	}
	if err := c.Early.Read(ctx); err != nil {
		return err
	}
	refusals, err := c.Early.Check(ctx)
	if err == nil {
		err = r.Refuse(refusals)
	}
	if err != nil {
		return err
	}
	r.Client.Ahead(ctx)
	defer func() { ls.Release(ctx) }()
	if err := r.Acquire(ctx, ls); err != nil {
		return err
	}
	if ls.Changed() {
		if err := c.Early.Read(ctx); err != nil {
			return err
		}
	}
	return rest.perform(ls.Ctx, r)
}

func (c *Change[P]) ask(ctx context.Context, p P) (P, error) {
	if c.Ask == nil {
		return p, nil
	}
	return c.Ask(ctx, p)
}

// Refusals are what guards have against plans.
func Refusals(plans []plan.Plan) []plan.Refusal {
	var refusals []plan.Refusal
	for i := range plans {
		refusals = append(refusals, plans[i].Refusals...)
	}
	return refusals
}
