package applycmd

import (
	"context"
	"slices"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Planned is a job with its plans.
type Planned struct {
	*Seen
	Plans []plan.Plan
	// compared says how the rows of each hub differ from those of the last run.
	compared map[lynq.HubKey][]string
	// namespaces are those of each hub's inventories.
	namespaces map[lynq.HubKey][]string
	// gone maps a hub to digests of tombstones. The run saw that their objects don't exist.
	gone map[lynq.HubKey][]string
}

// look plans all hubs, and returns the refusals of guards.
func (s *Seen) look(ctx context.Context) (*Planned, []plan.Refusal, error) {
	if s.Failed != nil {
		s.Engine.View.Note(session.Text(s.Failed))
	}
	p, err := s.PlanAll(ctx)
	if err != nil {
		return nil, nil, err
	}
	s.Noted.Inputs = p.inputs // refused runs note them, too
	refusals := session.Refusals(p.Plans)
	if len(refusals) > 0 {
		p.TellEvidence(p.Plans)
	} else if p.Plans, refusals, err = s.Reviewed(ctx, command, p.Plans, s.placeOf); err != nil {
		return nil, nil, err
	}
	if len(refusals) == 0 {
		if err := plan.CheckSizes(p.Plans); err != nil {
			return nil, nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: s.Options.Nothing}
		}
		refusals, err = p.reviewedNow(ctx)
	}
	return p, refusals, err
}

// reviewedNow returns the refusals of Options.Review.
func (p *Planned) reviewedNow(ctx context.Context) ([]plan.Refusal, error) {
	if p.Options.Review == nil {
		return nil, nil
	}
	reviewed := *p
	reviewed.Plans = slices.Clone(p.Plans)
	for i := range reviewed.Plans {
		nodes := slices.Clone(p.Plans[i].Nodes)
		reviewed.Plans[i].Nodes = nodes
		for k := range nodes {
			nodes[k].Steps = slices.Clone(nodes[k].Steps)
		}
	}
	refusals, err := p.Options.Review(ctx, &reviewed)
	if len(refusals) > 0 {
		p.TellEvidence(p.Plans)
	}
	return refusals, err
}

// explain notes causes in plans, if the command can.
func (p *Planned) explain(ctx context.Context) error {
	if p.Options.Explain == nil {
		return nil
	}
	return p.Options.Explain(ctx, p)
}

// agree shows the plans and asks for confirmation, if the run deletes objects. Without a
// person, only the guards decide.
func (p *Planned) agree(ctx context.Context) error {
	deleted := func(p plan.Plan) bool {
		return p.Counts[plan.ActionDelete]+p.Counts[plan.ActionCollect]+p.Counts[plan.ActionRecreate] > 0
	}
	p.TellEvidence(p.Plans) // people who read the log of a CI job later need it, too
	if p.Options.Yes || p.RunOptions.Plan != nil || p.Adopting != nil || !p.Engine.View.Attended() || !slices.ContainsFunc(p.Plans, deleted) {
		return nil
	}
	if err := p.explain(ctx); err != nil {
		return session.Untouched(ctx, err)
	}
	if err := p.Engine.View.Preview(p.Plans); err != nil {
		return session.Fail(err)
	}
	return p.Engine.Confirm(ctx, false, "Apply this, with "+session.DeletionSummary(p.Plans)+"?")
}
