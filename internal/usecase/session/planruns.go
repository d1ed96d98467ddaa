package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/planfile"
	"github.com/lynqctl/lynqctl/pkg/inventory/history"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// commandApply is the command whose plans create objects. After somebody deleted them, the
// cluster looks as before the plan, so a record shows that the plan ran. The plans of other
// commands delete objects by their uids, and can't match twice.
const commandApply = "apply"

// ranOn returns the state of the record of a hub's plans, or nil if no plan ran.
func (r *Run) ranOn(ctx context.Context, hub lynq.HubKey) (*planfile.Ran, error) {
	plans, err := r.Store.Plans(ctx, hub)
	if err != nil || plans.UID == "" {
		return nil, err
	}
	return &planfile.Ran{UID: plans.UID, Plans: plans.Began}, nil
}

// ranBefore refuses a plan that ran already. The record only ever refuses. Without it, the
// plan must still match everything that it depends on. A plan that began and didn't end may
// run again, if nothing changed.
func (r *Run) ranBefore(ctx context.Context, f *planfile.File) ([]plan.Refusal, error) {
	if f.Command != commandApply {
		return nil, nil
	}
	var refusals []plan.Refusal
	for _, part := range partOfEach(f) {
		plans, err := r.Store.Plans(ctx, part.Key())
		if err != nil {
			return nil, Untouched(ctx, err)
		}
		if what := ran(plans, f.ID, part.Ran); what != "" {
			refusal := stale(what, planAgain)
			refusal.Hub = part.Key()
			refusals = append(refusals, refusal)
		}
	}
	return refusals, nil
}

// partOfEach returns one part of each hub, because a hub's tombstones have their own.
func partOfEach(f *planfile.File) []*planfile.Plan {
	var parts []*planfile.Plan
	for i := range f.Plans {
		if key := f.Plans[i].Key(); !slices.ContainsFunc(parts, func(p *planfile.Plan) bool { return p.Key() == key }) {
			parts = append(parts, &f.Plans[i])
		}
	}
	return parts
}

// ran says why a plan may not run on a hub, or returns "".
func ran(plans *history.Plans, id string, then *planfile.Ran) string {
	began, uid := 0, ""
	if then != nil {
		began, uid = then.Plans, then.UID
	}
	run := plans.Find(id)
	switch {
	case run != nil && !run.Ended.IsZero():
		return "the plan ran already, at " + run.Ended.UTC().Format(time.RFC3339)
	case uid != "" && plans.UID != uid:
		return "somebody deleted the record of the plans that ran, so lynqctl can't tell whether this plan ran"
	case began < plans.Forgotten:
		return "so many plans ran since that lynqctl can't tell whether this plan ran"
	}
	return ""
}

// BeginPlan notes that the run's plan begins, before the run writes anything else. Without
// a plan file, it does nothing.
func (r *Run) BeginPlan(ctx context.Context) error { return r.notePlan(ctx, (*history.Plans).Begin) }

// EndPlan notes that the run's plan ended well, so that it never runs again.
func (r *Run) EndPlan(ctx context.Context) error { return r.notePlan(ctx, (*history.Plans).End) }

func (r *Run) notePlan(ctx context.Context, note func(p *history.Plans, id string, now time.Time) bool) error {
	f := r.RunOptions.Plan
	if f == nil || r.RunOptions.Mode != ModeRun {
		return nil
	}
	now := r.Engine.Now().UTC().Truncate(time.Second)
	var errs []error
	for _, part := range partOfEach(f) {
		errs = append(errs, r.Store.NotePlan(ctx, part.Key(), func(p *history.Plans) bool { return note(p, f.ID, now) }))
	}
	return errors.Join(errs...)
}
