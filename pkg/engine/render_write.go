package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// Render renders rows and forms into a tree of files or, where none is asked for, to out.
func (e *Engine) Render(ctx context.Context, o *TreeOptions, out io.Writer) error {
	ctx, cancel := Deadline(ctx, o.Timeout)
	defer cancel()
	inputs, err := e.prepareFor(ctx, o)
	switch {
	case err != nil:
		return err
	case o.Dir != "":
		return e.writeTree(ctx, o, inputs)
	case o.Stream:
		return e.renderStream(ctx, &o.RenderOptions, inputs, out)
	}
	return e.renderWhole(ctx, &o.RenderOptions, inputs, out)
}

// renderStream writes as it goes.
func (e *Engine) renderStream(ctx context.Context, o *RenderOptions, inputs *Inputs, to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<16)
	run, err := e.renderRows(ctx, o, o.Settings, inputs, render.NewStream(out))
	if flushErr := out.Flush(); err == nil && flushErr != nil {
		err = &render.SinkError{Err: flushErr}
	}
	return o.ended(run.Run, err)
}

// renderWhole writes when everything has rendered.
func (e *Engine) renderWhole(ctx context.Context, o *RenderOptions, inputs *Inputs, out io.Writer) error {
	spool := render.NewSpool(render.DefaultSpoolMemory)
	defer func() { _ = spool.Close() }() // what it kept has been written, or must not be
	run, err := e.renderRows(ctx, o, o.Settings, inputs, spool)
	if !o.wanted(run, err) {
		return o.ended(run.Run, err)
	}
	if _, err := spool.WriteTo(out); err != nil {
		return Fail(fmt.Errorf("write the manifests: %w", err))
	}
	return o.ended(run.Run, nil)
}

// wanted tells whether what a run rendered is of use.
func (f *RenderOptions) wanted(run *HubsRun, err error) bool {
	return err == nil && (run.Err() == nil || f.KeepGoing) && len(run.Missing()) == 0
}

// Validate finds out whether inputs, and with rows those too, are valid, and says what was
// looked at.
func (e *Engine) Validate(ctx context.Context, o *RenderOptions, rows bool) (checked string, err error) {
	ctx, cancel := Deadline(ctx, o.Timeout)
	defer cancel()
	o.NoForms = !rows
	inputs, err := e.Prepare(ctx, o, o.Nothing)
	if err != nil {
		return "", err
	}
	hubs, forms := len(inputs.Hubs), len(allPrograms(inputs.Hubs))
	if forms == 0 {
		hubs = len(inputs.Inputs.Hubs)
	}
	checked = fmt.Sprintf("%s and %s", lynq.Count(hubs, "hub"), lynq.Count(forms, "form"))
	if rows {
		var nodes counter
		run, err := e.renderRows(ctx, o, o.Settings, inputs, &nodes)
		if err := o.ended(run.Run, err); err != nil {
			return "", err
		}
		checked += ", " + lynq.Count(int(nodes), "node")
	}
	return checked, nil
}

// counter is a sink that counts.
type counter int

func (c *counter) Add([]byte) error { *c++; return nil }
func (*counter) Drop(int) bool      { return false }
