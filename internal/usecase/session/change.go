package session

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Change holds the steps of a use case that changes a cluster. Perform has their order, and
// a use case fills them in. P is what Look found and planned.
type Change[P any] struct {
	// Early, if not nil, takes the Leases before Look.
	Early *Early
	// Look reads the cluster, plans, and returns the refusals of guards. It returns
	// ErrNothing if nothing needs to change.
	Look func(ctx context.Context) (P, []plan.Refusal, error)
	// Try carries out a dry run of the plan.
	Try func(ctx context.Context, p P) error
	// Ask asks a person, and returns the confirmed plan. Nil asks nothing.
	Ask func(ctx context.Context, p P) (P, error)
	// Hubs returns the hubs that no other run may change meanwhile. Nil means that the
	// writes have preconditions, or that Early took the Leases.
	Hubs func(p P) []lynq.HubKey
	// Again looks again while no other run has the hubs. Nil keeps the plan.
	Again func(ctx context.Context, ls *Locks, agreed P) (P, []plan.Refusal, error)
	// More reports whether the new plan has parts that nobody confirmed, so that Ask asks
	// again. Nil means that Again drops such parts.
	More func(agreed, now P) bool
	// Do carries the plan out.
	Do func(ctx context.Context, ls *Locks, p P) error
}

// Early is for a change whose hubs are known before Look, and whose Look costs too much to
// do it twice. Look then runs once, while no other run has the hubs.
type Early struct {
	Hubs []lynq.HubKey
	// Read reads what no Lease protects. Check returns refusals before lynqctl writes any
	// Lease. If another run ended in between, its changes may be newer, so Read runs again.
	Read  func(ctx context.Context) error
	Check func(ctx context.Context) ([]plan.Refusal, error)
	// Ahead begins the reads of Look while the run takes the Leases, if they are free. Drop
	// ends them, and Look then reads again: another run ended in between.
	Ahead func(ctx context.Context) (drop func())
}

// ErrNothing says that nothing needs to change. The use case has told the user.
var ErrNothing = errors.New("there is nothing to do")

// Perform carries out a change: look, refuse, ask, take the Leases, look again, refuse, and
// write. A dry run looks, refuses, and tries.
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
		err = r.refuse(ctx, refusals)
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
	defer func() { r.release(ctx, ls) }()
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
		err = r.refuse(ls.Ctx, refusals)
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
		err = r.refuse(ctx, refusals)
	}
	if err != nil {
		return err
	}
	r.Client.PrefetchKinds(ctx)
	defer func() { r.release(ctx, ls) }()
	drop := func() {}
	if ls.LookFree() {
		drop = c.Early.Ahead(ctx)
	}
	defer func() { drop() }()
	if err := r.Acquire(ctx, ls); err != nil {
		return err
	}
	if ls.Changed() {
		drop()
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

// refuse shows refusals, adds them to the histories of their hubs, and returns an error.
// Without refusals, it returns nil. A dry run adds nothing.
func (r *Run) refuse(ctx context.Context, refusals []plan.Refusal) error {
	err := r.Refuse(refusals)
	if r.RunOptions.Mode != ModeRun {
		return err
	}
	of := map[lynq.HubKey][]plan.Refusal{}
	for _, refusal := range refusals {
		of[refusal.Hub] = append(of[refusal.Hub], refusal)
	}
	for _, hub := range slices.SortedFunc(maps.Keys(of), lynq.HubKey.Compare) {
		r.RememberRefusals(ctx, hub, of[hub])
	}
	return err
}

// Refusals returns the refusals of all plans.
func Refusals(plans []plan.Plan) []plan.Refusal {
	var refusals []plan.Refusal
	for i := range plans {
		refusals = append(refusals, plans[i].Refusals...)
	}
	return refusals
}
