package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/engine"
)

func (a *app) validateCommand() *cobra.Command {
	// What varies is no fault of a form: render alone asks for a permission.
	f := renderFlags{format: "yaml", RenderOptions: engine.RenderOptions{Nothing: "fix them and validate again"}}
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
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("-o", output, "text", "json"); err != nil {
				return err
			}
			if output == "json" {
				return a.validateJSON(cmd.Context(), &f, rows)
			}
			checked, err := f.validate(cmd.Context(), a.engine(""), rows)
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
func (f *renderFlags) validate(ctx context.Context, e *engine.Engine, rows bool) (checked string, err error) {
	if err := f.check(); err != nil {
		return "", err
	}
	return e.Validate(ctx, &f.RenderOptions, rows)
}
