package chart

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// helloWithin limits how long the helper may take to say which version it has.
const helloWithin = time.Minute

// Helper asks lynqctl-chart. It starts the process for the first request, and another one if
// the process ended. It is safe for concurrent use.
type Helper struct {
	command func() (*exec.Cmd, error)

	mu      sync.Mutex
	current *process
	charts  []opened
	closed  bool
}

// opened is a chart of a process. Another process doesn't know its number.
type opened struct {
	by      *process
	number  int
	request wire.Open
	digest  string
}

// New returns a Helper that runs a command, see Command.
func New(command func() (*exec.Cmd, error)) *Helper { return &Helper{command: command} }

// ProblemsError lists errors for the author of a form.
type ProblemsError struct{ Problems []wire.Problem }

func (e *ProblemsError) Error() string {
	lines := make([]string, 0, len(e.Problems))
	for _, p := range e.Problems {
		line := p.What
		if p.File != "" {
			line = p.File + ": " + line
		}
		if p.Fix != "" {
			line += " (" + p.Fix + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// errClosed says that lynqctl asks after the end of its run.
var errClosed = errors.New(Name + " was already stopped")

// Build returns the objects of a kustomization. It returns a *ProblemsError if the
// kustomization is invalid, and then only the files that it read.
func (h *Helper) Build(ctx context.Context, b wire.Build) (*wire.Built, error) {
	p, err := h.running()
	if err != nil {
		return nil, err
	}
	answer, err := p.ask(ctx, wire.Request{Build: &b})
	if answer == nil {
		return nil, err
	}
	if err == nil && answer.Built == nil {
		err = p.misunderstood()
	}
	return answer.Built, err
}

// Open reads a chart. The number that it returns is for Render of this Helper.
func (h *Helper) Open(ctx context.Context, o wire.Open) (*wire.Opened, error) {
	of, answer, err := h.open(ctx, o)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.charts = append(h.charts, of)
	answer.Chart = len(h.charts)
	return answer, nil
}

func (h *Helper) open(ctx context.Context, o wire.Open) (opened, *wire.Opened, error) {
	p, err := h.running()
	if err != nil {
		return opened{}, nil, err
	}
	answer, err := p.ask(ctx, wire.Request{Open: &o})
	if err == nil && answer.Opened == nil {
		err = p.misunderstood()
	}
	if err != nil {
		return opened{}, nil, err
	}
	return opened{by: p, number: answer.Opened.Chart, request: o, digest: answer.Opened.Digest}, answer.Opened, nil
}

// errChanged says that a chart can't be read again, because it is another one by now.
var errChanged = errors.New("the chart's files changed after lynqctl read them (run it again)")

// chart returns a chart that Open returned. If the process that read it has ended, another one
// reads it.
func (h *Helper) chart(ctx context.Context, number int) (opened, error) {
	h.mu.Lock()
	if number < 1 || number > len(h.charts) {
		h.mu.Unlock()
		return opened{}, errors.New("the chart was not opened")
	}
	of := h.charts[number-1]
	h.mu.Unlock()
	if !of.by.ended() {
		return of, nil
	}
	again, _, err := h.open(ctx, of.request)
	switch {
	case err != nil:
		return opened{}, err
	case again.digest != of.digest:
		return opened{}, errChanged
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.charts[number-1] = again
	return again, nil
}

// Render returns the objects of a chart that Open returned.
func (h *Helper) Render(ctx context.Context, r wire.Render) (*wire.Rendered, error) {
	of, err := h.chart(ctx, r.Chart)
	if err != nil {
		return nil, err
	}
	r.Chart = of.number
	answer, err := of.by.ask(ctx, wire.Request{Render: &r})
	if err == nil && answer.Rendered == nil {
		err = of.by.misunderstood()
	}
	if err != nil {
		return nil, err
	}
	return answer.Rendered, nil
}

// Close ends the process, if one runs. Requests that wait get an error.
func (h *Helper) Close() {
	h.mu.Lock()
	p := h.current
	h.closed = true
	h.mu.Unlock()
	if p != nil {
		p.stop(errClosed)
	}
}

// running returns the process. If no process runs, it starts one.
func (h *Helper) running() (*process, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, errClosed
	case h.current != nil && !h.current.ended():
		return h.current, nil
	}
	cmd, err := h.command()
	if err != nil {
		return nil, err
	}
	h.current, err = start(cmd)
	return h.current, err
}
