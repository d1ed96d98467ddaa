package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/cli"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func (a *app) validateCommand() *cobra.Command {
	var f renderFlags
	var rows bool
	var output string
	cmd := &cobra.Command{
		Use:   "validate -f PATH...",
		Short: "Check hubs and forms",
		Long: `Check hubs and forms, and report everything that is wrong with them in one run.
Neither database nor cluster is needed.

With --rows the rows are read too, and rendered without writing anything.

Exit codes: 0 all is valid; 1 nodes of some rows do not render; 2 bad inputs,
rows or usage; 130 interrupted.`,
		Example: `  lynqctl validate -f forms/
  lynqctl validate -f forms/ --rows

  # For a program: what is wrong, and where
  lynqctl validate -f forms/ -o json | jq -r '.problems[].message'`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("-o", output, "text", "json"); err != nil {
				return err
			}
			if output == "json" {
				return a.validateJSON(cmd.Context(), &f, rows)
			}
			checked, err := validate(cmd.Context(), a.engine(""), &f, rows)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.noteOut(), "%s: valid\n", checked)
			return engine.Fail(err)
		},
	}
	f.registerLocal(cmd.Flags())
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().BoolVar(&rows, "rows", false, "read the rows and render them too")
	return cmd
}

// validate finds out whether all is valid, and says what was looked at.
func validate(ctx context.Context, e *engine.Engine, f *renderFlags, rows bool) (checked string, err error) {
	// What varies is no fault of a form: render alone asks for a permission.
	f.format, f.Nothing, f.AllowVarying = "yaml", "fix them and validate again", true
	f.NoForms = !rows
	if err := f.check(); err != nil {
		return "", err
	}
	ctx, cancel := engine.Deadline(ctx, f.Timeout)
	defer cancel()
	inputs, err := e.Prepare(ctx, &f.RenderOptions, f.Nothing)
	if err != nil {
		return "", err
	}
	hubs, forms := len(inputs.Hubs), 0
	for _, h := range inputs.Hubs {
		forms += len(h.Programs)
	}
	if forms == 0 {
		hubs = len(inputs.Inputs.Hubs)
	}
	checked = fmt.Sprintf("%s and %s", lynq.Count(hubs, "hub"), lynq.Count(forms, "form"))
	if rows {
		var nodes counter
		run, err := e.RenderRows(ctx, &f.RenderOptions, f.Settings, inputs, &nodes)
		if err := f.Ended(run.Run, err); err != nil {
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
