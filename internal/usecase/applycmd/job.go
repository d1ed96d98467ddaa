package applycmd

import (
	"context"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render/buffer"
)

// Job says what one run of apply is about. A run makes a Rendered of it, then a Seen, then a
// Planned, and each has what is known by then.
type Job struct {
	session.Run
	Options *Options
	Inputs  *load.Inputs
	Hubs    []load.HubPrograms

	Tombstones []lynq.Tombstone // from files
	// Continuous is set for one of many rounds. Such a run doesn't list the objects that it
	// keeps.
	Continuous bool
	// Survey returns the nodes of all inputs for a plan that deletes. read reads the rows
	// again. nil means that the plan waits for read.
	Survey func(ctx context.Context, read func(context.Context) ([]*plan.Node, error)) ([]*plan.Node, error)

	// Pages keeps the manifests of a run that ends soon. nil keeps them in memory.
	Pages *buffer.Pages

	stdinRows load.Replayed
	Tracked   load.KeptNames // names on objects without an inventory; nil if nobody looked
	Adopting  *Adopting      // selects orphans, nil for apply
}

// Perform reads the rows, takes the Leases, plans, and carries the plans out. It reads the
// cluster once, while no other run has the hubs.
func (j *Job) Perform(ctx context.Context) error {
	var rows *Rendered // of the last Read
	var begun *prefetch
	change := j.change(func(ctx context.Context) (*Seen, error) {
		s, err := rows.LoadHubs(ctx)
		if err == nil {
			s.begun = begun
		}
		return s, err
	})
	change.Early = &session.Early{
		Hubs: load.HubKeys(j.Hubs),
		Read: func(ctx context.Context) (err error) {
			if rows, err = j.Render(ctx); err != nil {
				return err
			}
			j.Noted.Inputs = rows.inputs // refused runs note them, too
			if some, err := rows.judge(); err != nil || some {
				return err
			}
			return session.ErrNothing
		},
		Check: func(ctx context.Context) ([]plan.Refusal, error) {
			if refusals, err := j.CheckPlan(ctx, command); err != nil || len(refusals) > 0 {
				return refusals, err
			}
			return rows.emptyHubs(ctx)
		},
		Ahead: func(ctx context.Context) (drop func()) {
			began := rows.beginLook(ctx)
			begun = began
			return func() {
				began.close()
				begun = nil
			}
		},
	}
	return session.Perform(ctx, &j.Run, change)
}

// CarryOut plans all hubs without hub records, and carries the plans out.
func (r *Rendered) CarryOut(ctx context.Context) error {
	return session.Perform(ctx, &r.Run, r.change(func(context.Context) (*Seen, error) { return &Seen{Rendered: r}, nil }))
}

// change returns the steps of apply that follow the reading of rows. see reads the hub
// records.
func (j *Job) change(see func(context.Context) (*Seen, error)) *session.Change[*Planned] {
	return &session.Change[*Planned]{
		Look: func(ctx context.Context) (*Planned, []plan.Refusal, error) {
			s, err := see(ctx)
			if err != nil {
				return nil, nil, session.Untouched(ctx, err)
			}
			return s.look(ctx)
		},
		Try: func(ctx context.Context, p *Planned) error {
			p.TellEvidence(p.Plans)
			if err := p.explain(ctx); err != nil {
				return session.Untouched(ctx, err)
			}
			if p.RunOptions.Mode == session.ModeServer {
				return p.RunPlans(ctx, p.Plans, nil)
			}
			p.TellRestored(p.Plans)
			return p.ShowPlans(p.Plans)
		},
		Ask: func(ctx context.Context, p *Planned) (*Planned, error) { return p, p.agree(ctx) },
		Do: func(ctx context.Context, _ *session.Locks, p *Planned) error {
			return p.RunPlans(ctx, p.Plans, nil)
		},
	}
}

// narrowed reports whether the run covers only some nodes. What such a run deletes and
// holds isn't everything that leaves.
func (j *Job) narrowed() bool {
	return !j.Options.Shard.IsZero() || j.chosen()
}

// chosen reports whether a person chose nodes or objects for the run.
func (j *Job) chosen() bool {
	return j.Adopting != nil || j.RunOptions.Plan != nil || len(j.Options.Inputs.Forms)+len(j.Options.Settings.Nodes) > 0 || j.Options.Settings.Selector != nil
}
