package diff

import (
	"context"
	"errors"
	"fmt"

	"github.com/lynqctl/lynqctl/internal/usecase/apply"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/diff"
)

// Run finds out what an apply would change, and has it shown: show tells whether anything
// differs. keepSides: the report has whole objects, as another program needs them that
// shows differences.
func Run(ctx context.Context, e *session.Engine, o *apply.Options, keepSides bool, show func(context.Context, *diff.Report) (bool, error)) error {
	var report *diff.Report
	differs := false
	err := apply.WithJob(ctx, e, o, func(ctx context.Context, j *apply.Job) (err error) {
		if report, err = compare(ctx, j, keepSides); err != nil {
			return err
		}
		if differs, err = show(ctx, report); err != nil {
			return &session.Error{Outcome: session.BadInput, Err: fmt.Errorf("show the differences: %w", err)}
		}
		return nil
	})
	var known *session.Error
	if errors.As(err, &known) && known.Outcome == session.Failed {
		known.Outcome = session.BadInput // Failed is that something would change
	}
	if err != nil {
		return err
	}
	return diffOutcome(report, differs)
}

// diffOutcome is what a report comes to.
func diffOutcome(report *diff.Report, differs bool) error {
	switch {
	case len(report.Refusals) > 0:
		return &session.Error{Outcome: session.Refused, Err: session.ErrReported, Summary: "a guard would refuse to apply this: see above"}
	case report.Counts().Problems > 0:
		return &session.Error{Outcome: session.BadInput, Err: session.ErrReported, Summary: "apply would fail: see above"}
	case differs:
		return &session.Error{Outcome: session.Failed, Err: session.ErrReported}
	}
	return nil
}

// compare finds out what an apply would change.
func compare(ctx context.Context, j *apply.Job, keepSides bool) (*diff.Report, error) {
	if err := j.Render(ctx); err != nil {
		return nil, err
	}
	if err := j.LoadHubs(ctx); err != nil {
		return nil, session.Untouched(ctx, err)
	}
	if j.Failed != nil {
		j.Engine.Notef("%v", j.Failed)
	}
	plans, err := j.PlanAll(ctx)
	if err != nil {
		return nil, err
	}
	if err := plan.CheckSizes(plans); err != nil {
		return nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: j.Options.Nothing}
	}
	j.TellRestored(plans)
	t, err := try(ctx, j, plans, keepSides)
	if err != nil {
		return nil, session.Untouched(ctx, err)
	}
	return t.report(plans)
}
