package render

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/render/spool"
)

// Run renders rows and forms into a tree of files or, where none is asked for, to out.
func Run(ctx context.Context, e *session.Engine, o *Options, out io.Writer) error {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	inputs, err := prepareFor(ctx, e, o)
	switch {
	case err != nil:
		return err
	case o.Dir != "":
		return writeTree(ctx, e, o, inputs)
	case o.Stream:
		return renderStream(ctx, e, &o.RenderOptions, inputs, out)
	}
	return renderWhole(ctx, e, &o.RenderOptions, inputs, out)
}

// renderStream writes as it goes.
func renderStream(ctx context.Context, e *session.Engine, o *load.RenderOptions, inputs *load.Inputs, to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<16)
	settings := o.Settings
	settings.Stream = true
	run, err := load.RenderRows(ctx, e, o, settings, inputs, load.EachNode(ctx, func(node []byte) error {
		_, err := out.Write(node)
		return err
	}))
	if flushErr := out.Flush(); err == nil && flushErr != nil {
		err = &load.OutputError{Err: flushErr}
	}
	return o.Ended(run.Run, err)
}

// renderWhole writes when everything has rendered.
func renderWhole(ctx context.Context, e *session.Engine, o *load.RenderOptions, inputs *load.Inputs, out io.Writer) error {
	kept := spool.New(spool.DefaultMemory)
	defer func() { _ = kept.Close() }() // what it kept has been written, or must not be
	run, err := load.RenderRows(ctx, e, o, o.Settings, inputs, load.EachNode(ctx, kept.Add))
	if !o.Wanted(run, err) {
		return o.Ended(run.Run, err)
	}
	kept.Drop(run.Retracted()...)
	if _, err := kept.WriteTo(out); err != nil {
		return session.Fail(fmt.Errorf("write the manifests: %w", err))
	}
	return o.Ended(run.Run, nil)
}
