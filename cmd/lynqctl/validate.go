package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func (a *app) validateCommand() *cobra.Command {
	var f renderFlags
	var rows bool
	cmd := &cobra.Command{
		Use:   "validate -f PATH...",
		Short: "Check hubs and forms",
		Long: `Check hubs and forms, and report everything that is wrong with them in one run.
Neither database nor cluster is needed.

With --rows the rows are read too, and rendered without writing anything.

Exit codes: 0 all is valid; 1 nodes of some rows do not render; 2 bad inputs,
rows or usage; 130 interrupted.`,
		Example: `  lynqctl validate -f forms/
  lynqctl validate -f forms/ --rows`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.validate(cmd.Context(), &f, rows)
		},
	}
	f.registerLocal(cmd.Flags())
	cmd.Flags().BoolVar(&rows, "rows", false, "read the rows and render them too")
	return cmd
}

func (a *app) validate(ctx context.Context, f *renderFlags, rows bool) error {
	// What varies is no fault of a form: render alone asks for a permission.
	f.format, f.Nothing, f.AllowVarying = "yaml", "fix them and validate again", true
	f.NoForms = !rows
	if err := f.check(); err != nil {
		return err
	}
	ctx, cancel := engine.Deadline(ctx, f.Timeout)
	defer cancel()
	e := a.engine("")
	inputs, err := e.Prepare(ctx, &f.RenderOptions, f.Nothing)
	if err != nil {
		return err
	}
	hubs, forms := len(inputs.Hubs), 0
	for _, h := range inputs.Hubs {
		forms += len(h.Programs)
	}
	if forms == 0 {
		hubs = len(inputs.Inputs.Hubs)
	}
	checked := fmt.Sprintf("%s and %s", lynq.Count(hubs, "hub"), lynq.Count(forms, "form"))
	if rows {
		var nodes counter
		run, err := e.RenderRows(ctx, &f.RenderOptions, f.Settings, inputs, &nodes)
		if err := f.Ended(run.Run, err); err != nil {
			return err
		}
		checked += ", " + lynq.Count(int(nodes), "node")
	}
	_, err = fmt.Fprintf(a.noteOut(), "%s: valid\n", checked)
	return engine.Fail(err)
}

// counter is a sink that counts.
type counter int

func (c *counter) Add([]byte) error { *c++; return nil }
func (*counter) Drop(int) bool      { return false }
