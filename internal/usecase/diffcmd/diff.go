package diffcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/planfile"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Output receives what an apply would change.
type Output struct {
	// Show shows the report, and reports whether anything differs.
	Show func(context.Context, *diff.Report) (bool, error)
	// KeepSides keeps whole objects in the report, for an external diff program.
	KeepSides bool
	// FailOn are findings for which Run refuses.
	FailOn []changeset.Code
	// Plan writes the plan file unless a guard refuses the plan. With nil, Run writes none.
	Plan func(*planfile.File) error
}

// Run finds out what an apply would change, and passes it to out. If anything would change,
// it returns a *session.Error with the outcome Failed.
func Run(ctx context.Context, e *session.Engine, o *applycmd.Options, out *Output) error {
	var report *diff.Report
	differs := false
	err := applycmd.WithJob(ctx, e, o, func(ctx context.Context, j *applycmd.Job) (err error) {
		var file *planfile.File
		if report, file, err = compare(ctx, j, out); err != nil {
			return err
		}
		if differs, err = out.Show(ctx, report); err != nil {
			return &session.Error{Outcome: session.BadInput, Err: fmt.Errorf("show the differences: %w", err)}
		}
		if refused := len(report.Refusals) > 0 || failing(report, out.FailOn) != nil; file == nil || refused {
			return nil
		}
		return session.Fail(out.Plan(file))
	})
	var known *session.Error
	if errors.As(err, &known) && known.Outcome == session.Failed {
		known.Outcome = session.BadInput // here, Failed means that something would change
	}
	if err != nil {
		return err
	}
	if err := failing(report, out.FailOn); err != nil {
		return err
	}
	return diffOutcome(report, differs && out.Plan == nil)
}

// failing returns an error if a report has findings with some codes.
func failing(report *diff.Report, codes []changeset.Code) error {
	var found []string
	for _, f := range report.Changes().FoundOf(codes) {
		found = append(found, f.String())
	}
	if found == nil {
		return nil
	}
	return &session.Error{Outcome: session.Refused, Err: session.ErrReported, Summary: "--fail-on refuses this: " + strings.Join(found, "; ")}
}

// expiresSoon is the time before a row expires from which a comparison warns.
const expiresSoon = 24 * time.Hour

// tellExpiries names the nodes that a later apply deletes because their rows expire soon.
func tellExpiries(r *applycmd.Rendered) {
	now := r.Engine.Now()
	var soon []*lynq.NodeID
	ends := map[*lynq.NodeID]time.Time{}
	for _, nodes := range r.Nodes {
		for _, n := range nodes {
			if !n.Expires.IsZero() && n.Expires.Sub(now) < expiresSoon {
				soon = append(soon, &n.NodeID)
				ends[&n.NodeID] = n.Expires
			}
		}
	}
	slices.SortFunc(soon, func(a, b *lynq.NodeID) int {
		return cmp.Or(ends[a].Compare(ends[b]), strings.Compare(a.String(), b.String()))
	})
	const most = 3 // names in the note
	var named []string
	for _, n := range soon[:min(len(soon), most)] {
		named = append(named, fmt.Sprintf("%s in %s", n, lynq.Span(ends[n].Sub(now))))
	}
	if more := len(soon) - most; more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	if len(soon) > 0 {
		r.Engine.Notef("%s from rows that expire soon: %s", phrase.Count(len(soon), "node"), strings.Join(named, ", "))
	}
}

// tellSuspended notes the nodes that people suspended.
func tellSuspended(p *applycmd.Planned) {
	for i := range p.Plans {
		for k := range p.Plans[i].Nodes {
			if n := &p.Plans[i].Nodes[k]; n.Suspended {
				p.Engine.Notef("node %s: skipped: %s", n.Key(), n.Unmet)
			}
		}
	}
}

// refusedSummary says why a guard would refuse an apply.
func refusedSummary(refusals []plan.Refusal) string {
	first := &refusals[0]
	what := fmt.Sprintf("apply would refuse to run: hub %s: %s", first.Hub, first.What)
	if more := len(refusals) - 1; more > 0 {
		what += fmt.Sprintf(", and %s more above", phrase.Count(more, "refusal"))
	}
	return what
}

// diffOutcome turns a report into the result of the command.
func diffOutcome(report *diff.Report, differs bool) error {
	switch {
	case len(report.Refusals) > 0:
		return &session.Error{Outcome: session.Refused, Err: session.ErrReported, Summary: refusedSummary(report.Refusals)}
	case report.Counts().Problems > 0:
		return &session.Error{Outcome: session.BadInput, Err: session.ErrReported, Summary: "apply would fail: see above"}
	case differs:
		return &session.Error{Outcome: session.Failed, Err: session.ErrReported}
	}
	return nil
}

// compare finds out what an apply would change. It returns a plan file if out wants one.
func compare(ctx context.Context, j *applycmd.Job, out *Output) (*diff.Report, *planfile.File, error) {
	rows, err := j.Render(ctx)
	if err != nil {
		return nil, nil, err
	}
	seen, err := rows.LoadHubs(ctx)
	if err != nil {
		return nil, nil, session.Untouched(ctx, err)
	}
	if rows.Failed != nil {
		j.Engine.View.Note(session.Text(rows.Failed))
	}
	p, err := seen.PlanAll(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := plan.CheckSizes(p.Plans); err != nil {
		return nil, nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: j.Options.Nothing}
	}
	j.TellEvidence(p.Plans)
	j.TellRestored(p.Plans)
	j.TellStrays(p.Plans)
	tellExpiries(rows)
	tellSuspended(p)
	var file *planfile.File
	if out.Plan != nil { // before the trial, which removes steps from the plans that it can't try
		if file, err = j.Freeze(ctx, p.Plans); err != nil {
			return nil, nil, session.Untouched(ctx, err)
		}
	}
	t, err := try(ctx, p, out.KeepSides)
	if err != nil {
		return nil, nil, session.Untouched(ctx, err)
	}
	report, err := t.report(p.Plans)
	return report, file, err
}
