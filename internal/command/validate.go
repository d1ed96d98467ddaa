package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

func validateCommand(a *app) *cobra.Command {
	// A form may use functions that vary. Only render asks for a permission.
	f := cmdflags.Render{Format: "yaml"}
	var rows bool
	var output string
	cmd := &cobra.Command{
		Use:        "validate -f PATH...",
		SuggestFor: []string{"lint", "check"},
		Short:      "Check hubs and forms for errors",
		Long: `Check hubs and forms, and report every error at once, with its file and line.
You don't need a database or a cluster.

With --rows, validate also reads the rows and renders them. It writes nothing.

Exit codes:
  0    no errors
  1    some rows don't render
  2    invalid hubs, forms, rows, or usage
  130  interrupted`,
		Example: `  lynqctl validate -f forms/
  lynqctl validate -f forms/ --rows

  # Print only the messages, for a script
  lynqctl validate -f forms/ -o json | jq -r '.problems[].message'`,
		Args: cmdflags.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmdflags.OneOf("-o", output, "text", "json"); err != nil {
				return err
			}
			if output == "json" {
				return a.validateJSON(cmd.Context(), &f, rows)
			}
			checked, err := validated(cmd.Context(), a.Engine(""), &f, rows)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.NoteOut(), "%s: valid\n", checked)
			return session.Fail(err)
		},
	}
	f.RegisterLocal(cmd.Flags())
	cmdflags.RegisterStrict(cmd.Flags(), &f.Options.Inputs)
	cmd.Flags().StringVarP(&output, "output", "o", "text", "output format: text or json")
	cmd.Flags().BoolVar(&rows, "rows", false, "also read the rows and render them")
	return cmd
}

// validated checks the inputs, and says what it checked.
func validated(ctx context.Context, e *session.Engine, f *cmdflags.Render, rows bool) (checked string, err error) {
	if err := f.Check(); err != nil {
		return "", err
	}
	return load.Validate(ctx, e, &f.Options, rows)
}
