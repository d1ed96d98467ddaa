package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/render"
)

// ended says what became of a run, as an error that knows its exit code: bad
// input where nothing was touched, a failure where something was written, or
// where only nodes failed.
func (f *renderFlags) ended(run *render.Run, err error) error {
	var known *exitError
	var sink *render.SinkError
	switch {
	case errors.Is(err, context.Canceled) || errors.As(err, &known):
		return err
	case errors.As(err, &sink):
		e := &exitError{code: exitFailed, err: fmt.Errorf("write the manifests: %w", sink.Err), summary: f.nothing}
		if f.stream {
			e.summary = "the output is incomplete"
		}
		return e
	case err != nil:
		return f.sourceFailed(run, err)
	case run.Err() != nil:
		return f.nodesFailed(run)
	}
	if missing := run.Missing(); len(missing) > 0 {
		e := unknownNodes(missing, run.Forms())
		if f.stream && run.Report().Nodes > 0 {
			e.code, e.summary = exitFailed, f.unwritten(run.Report())
		}
		return e
	}
	return nil
}

// sourceFailed is the failure of a source, or of its rows as such.
func (f *renderFlags) sourceFailed(run *render.Run, err error) error {
	e := &exitError{code: exitBadInput, err: err, summary: f.unwritten(run.Report())}
	var bad *render.BadRowsError
	if errors.As(err, &bad) {
		e.summary = count(len(bad.Problems)+bad.More, "bad row") + "; " + e.summary
	}
	if nodes := run.Err(); nodes != nil { // of hubs before this one
		e.err = errors.Join(nodes, err)
	}
	if f.stream && run.Report().Nodes > 0 {
		e.code = exitFailed
	}
	return e
}

// nodesFailed is the failure of nodes, while the others went well.
func (f *renderFlags) nodesFailed(run *render.Run) error {
	report := run.Report()
	rest := f.unwritten(report)
	if f.keepGoing {
		rest = count(report.Nodes, "other node") + " did"
	}
	return &exitError{
		code: exitFailed, err: run.Err(),
		summary: fmt.Sprintf("%s could not be rendered; %s", count(report.FailedNodes, "node"), rest),
	}
}

// unwritten says of a failed run what there is of its output.
func (f *renderFlags) unwritten(r render.Report) string {
	if f.stream && r.Nodes > 0 {
		return fmt.Sprintf("the output is incomplete: %s had been written", count(r.Nodes, "node"))
	}
	return f.nothing
}
