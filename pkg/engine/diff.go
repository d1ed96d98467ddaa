package engine

import (
	"context"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/diff"
)

// Diff finds out what an apply would change. keepSides: the report has whole objects,
// as another program needs them that shows differences.
func (e *Engine) Diff(ctx context.Context, o *ApplyOptions, keepSides bool, show func(context.Context, *diff.Report) error) error {
	return e.withApplyJob(ctx, o, func(ctx context.Context, j *applyJob) error {
		report, err := j.compare(ctx, keepSides)
		if err != nil {
			return err
		}
		return show(ctx, report)
	})
}

// compare finds out what an apply would change.
func (j *applyJob) compare(ctx context.Context, keepSides bool) (*diff.Report, error) {
	if err := j.render(ctx); err != nil {
		return nil, err
	}
	if err := j.loadHubs(ctx); err != nil {
		return nil, untouched(ctx, err)
	}
	if j.failed != nil {
		j.notef("%v", j.failed)
	}
	plans, err := j.planAll(ctx)
	if err != nil {
		return nil, err
	}
	if err := plan.CheckSizes(plans); err != nil {
		return nil, &Error{Outcome: BadInput, Err: err, Summary: j.o.Nothing}
	}
	j.tellRestored(plans)
	t, err := j.try(ctx, plans, keepSides)
	if err != nil {
		return nil, untouched(ctx, err)
	}
	return t.report(plans)
}
