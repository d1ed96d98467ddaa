package load

import (
	"context"
	"errors"
	"fmt"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// Ended turns the result of a run into an error with an outcome. The outcome is BadInput if
// nothing changed. It is Failed if the run wrote something, or if only some nodes failed.
func (f *RenderOptions) Ended(run *render.Run, err error) error {
	var known *session.Error
	var output *OutputError
	switch {
	case errors.Is(err, context.Canceled) || errors.As(err, &known):
		return err
	case errors.As(err, &output):
		e := &session.Error{Outcome: session.Failed, Err: fmt.Errorf("write the manifests: %w", output.Err), Summary: f.Nothing}
		if f.Stream {
			e.Summary = "the output is incomplete"
		}
		return e
	case err != nil:
		return f.sourceFailed(run, err)
	case run.Err() != nil:
		return f.nodesFailed(run)
	}
	if missing := run.Missing(); len(missing) > 0 {
		e := UnknownNodesOf(run, missing)
		if f.Stream && run.Report().Nodes > 0 {
			e.Outcome, e.Summary = session.Failed, f.unwritten(run.Report())
		}
		return e
	}
	return nil
}

// UnknownNodesOf returns the error for nodes of --node that a run didn't render.
func UnknownNodesOf(run *render.Run, missing []string) *session.Error {
	e := UnknownNodes(missing, run.Forms())
	for _, m := range missing {
		if near := run.Near(m); near != "" {
			e.Err = fmt.Errorf("%w; for %s, did you mean %s?", e.Err, m, near)
		}
	}
	return e
}

// sourceFailed returns the error for a failed source, or for unusable rows.
func (f *RenderOptions) sourceFailed(run *render.Run, err error) error {
	e := &session.Error{Outcome: session.BadInput, Err: err, Summary: f.unwritten(run.Report())}
	var bad *render.RowsError
	if errors.As(err, &bad) {
		e.Summary = session.AndNothing(phrase.Count(len(bad.Problems)+bad.More, "bad row"), e.Summary)
	}
	if nodes := run.Err(); nodes != nil { // of earlier hubs
		e.Err = errors.Join(nodes, err)
	}
	if f.Stream && run.Report().Nodes > 0 {
		e.Outcome = session.Failed
	}
	return e
}

// nodesFailed returns the error for nodes that failed while others succeeded.
func (f *RenderOptions) nodesFailed(run *render.Run) error {
	report := run.Report()
	rest := f.unwritten(report)
	if f.KeepGoing {
		rest = phrase.Count(report.Nodes, "other node") + " did"
	}
	return &session.Error{Outcome: session.Failed, Err: run.Err(),
		Summary: session.AndNothing(phrase.Count(report.FailedNodes, "node")+" failed to render", rest),
	}
}

// unwritten says how much of its output a failed run wrote.
func (f *RenderOptions) unwritten(r render.Report) string {
	if f.Stream && r.Nodes > 0 {
		return fmt.Sprintf("the output is incomplete: %s had been written", phrase.Count(r.Nodes, "node"))
	}
	return f.Nothing
}

// Wanted reports whether the caller can use what a run rendered.
func (f *RenderOptions) Wanted(run *HubsRun, err error) bool {
	return err == nil && (run.Err() == nil || f.KeepGoing) && len(run.Missing()) == 0
}
