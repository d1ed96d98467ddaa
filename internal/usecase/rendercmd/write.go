package rendercmd

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/render/buffer"
)

// Run renders rows and forms into a tree of files. Without a directory, it writes to out.
// It returns a *session.Error if it wrote nothing, or not everything.
func Run(ctx context.Context, e *session.Engine, o *Options, out io.Writer) error {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	o.Inputs.Capabilities.Alone = true
	inputs, err := prepareFor(ctx, e, o)
	switch {
	case err != nil:
		return err
	case o.Dir != "":
		return writeTree(ctx, e, o, inputs)
	}
	tellGrace(e, inputs)
	if o.Stream {
		return renderStream(ctx, e, o, inputs, out)
	}
	return renderWhole(ctx, e, o, inputs, out)
}

// renderStream writes each node as soon as it is rendered.
func renderStream(ctx context.Context, e *session.Engine, o *Options, inputs *load.Inputs, to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<16)
	settings := o.Settings
	settings.Stream = true
	run, err := load.RenderRows(ctx, e, &o.RenderOptions, settings, inputs, load.EachNode(ctx, o.converted(func(node []byte) error {
		_, err := out.Write(node)
		return err
	})))
	if flushErr := out.Flush(); err == nil && flushErr != nil {
		err = &load.OutputError{Err: flushErr}
	}
	if err == nil {
		err = o.tellLosses(inputs.ChartLosses.All())
	}
	return o.Ended(run.Run, err)
}

// converted passes nodes on in the format of Convert.
func (o *Options) converted(add func(node []byte) error) func(node []byte) error {
	if o.Convert == nil {
		return add
	}
	return func(node []byte) error {
		text, err := o.Convert(node)
		if err != nil {
			return fmt.Errorf("convert the manifests of a node: %w", err)
		}
		return add(text)
	}
}

// renderWhole writes once everything is rendered.
func renderWhole(ctx context.Context, e *session.Engine, o *Options, inputs *load.Inputs, out io.Writer) error {
	kept := buffer.New(buffer.DefaultMemory)
	defer func() { _ = kept.Close() }() // the run has written the kept bytes, or must not
	run, err := load.RenderRows(ctx, e, &o.RenderOptions, o.Settings, inputs, load.EachNode(ctx, o.converted(kept.Add)))
	if !o.Wanted(run, err) {
		return o.Ended(run.Run, err)
	}
	kept.Drop(run.Retracted()...)
	if err := o.tellLosses(inputs.ChartLosses.All()); err != nil {
		return err
	}
	if _, err := kept.WriteTo(out); err != nil {
		return session.Fail(fmt.Errorf("write the manifests: %w", err))
	}
	return o.Ended(run.Run, nil)
}
