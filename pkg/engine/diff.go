package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/diff"
)

// Diff finds out what an apply would change, and has it shown: show tells whether anything
// differs. keepSides: the report has whole objects, as another program needs them that
// shows differences.
func (e *Engine) Diff(ctx context.Context, o *ApplyOptions, keepSides bool, show func(context.Context, *diff.Report) (bool, error)) error {
	var report *diff.Report
	differs := false
	err := e.withApplyJob(ctx, o, func(ctx context.Context, j *applyJob) (err error) {
		if report, err = j.compare(ctx, keepSides); err != nil {
			return err
		}
		if differs, err = show(ctx, report); err != nil {
			return &Error{Outcome: BadInput, Err: fmt.Errorf("show the differences: %w", err)}
		}
		return nil
	})
	var known *Error
	if errors.As(err, &known) && known.Outcome == Failed {
		known.Outcome = BadInput // Failed is that something would change
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
		return &Error{Outcome: Refused, Err: ErrReported, Summary: "a guard would refuse to apply this"}
	case report.Counts().Problems > 0:
		return &Error{Outcome: BadInput, Err: ErrReported, Summary: "apply would not end well: see above"}
	case differs:
		return &Error{Outcome: Failed, Err: ErrReported}
	}
	return nil
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
