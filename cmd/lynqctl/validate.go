package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/render"
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
	f.inputFlags.register(cmd)
	f.clusterFlags.register(cmd)
	f.registerRows(cmd)
	cmd.Flags().BoolVar(&rows, "rows", false, "read the rows and render them too")
	return cmd
}

func (a *app) validate(ctx context.Context, f *renderFlags, rows bool) error {
	// What varies is no fault of a form: render alone asks for a permission.
	f.format, f.nothing, f.allowVarying = "yaml", "fix them and validate again", true
	settings, err := f.settings()
	if err != nil {
		return err
	}
	ctx, cancel := f.deadline(ctx)
	defer cancel()
	inputs, hubs, err := f.prepare(ctx, a, f.options, f.nothing)
	if err != nil {
		return err
	}
	forms := 0
	for _, h := range hubs {
		forms += len(h.programs)
	}
	checked := fmt.Sprintf("%s and %s", count(len(hubs), "hub"), count(forms, "form"))
	if rows {
		if checked, err = a.validateRows(ctx, f, settings, inputs, hubs, checked); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(a.stderr, "%s: valid\n", checked)
	return failed(err)
}

// validateRows renders all rows into nowhere.
func (a *app) validateRows(ctx context.Context, f *renderFlags, s render.Settings, inputs *form.Inputs, hubs []hubPrograms, checked string) (string, error) {
	var nodes counter
	run, err := a.renderRows(ctx, f, s, inputs, hubs, &nodes)
	if err := f.ended(run.Run, err); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, %s", checked, count(int(nodes), "node")), nil
}

// counter is a sink that counts.
type counter int

func (c *counter) Add([]byte) error { *c++; return nil }
func (*counter) Drop(int) bool      { return false }
