package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/diffcmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/planfile"
	"github.com/lynqctl/lynqctl/pkg/diff"
)

func planCommand(a *app) *cobra.Command {
	f := newDiffFlags("plan")
	out := ""
	cmd := &cobra.Command{
		Use:        "plan -f PATH... --out FILE",
		SuggestFor: []string{"freeze"},
		Short:      "Write the changes of apply to a plan file",
		Long: `Show what apply would change, as diff does, and write it to a plan file.
'lynqctl apply --plan FILE' then carries out these changes and no others.

If a row, a form, an object or an inventory of the plan changes before you apply
it, lynqctl refuses and names it. A plan runs once.

The file names objects, but has no values of rows and no contents of objects. If
somebody edits the file, lynqctl refuses it.

Exit codes:
  0    the plan is written, even if nothing changes
  2    invalid input, or the file couldn't be written; or apply would fail for
       some nodes (the plan has the rest)
  3    a guard would refuse to apply; no plan is written
  130  interrupted`,
		Example: `  # In a pull request: write the plan, and a comment for people
  lynqctl plan -f forms/ --out plan.json -o markdown > comment.md

  # After the merge: apply what was reviewed
  lynqctl apply -f forms/ --plan plan.json`,
		Args: cmdflags.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.plan(cmd.Context(), &f, out) },
	}
	flags := cmd.Flags()
	f.register(flags)
	flags.StringVar(&out, "out", "", "write the plan to this `file`")
	return cmd
}

// plan runs the command.
func (a *app) plan(ctx context.Context, f *diffFlags, out string) error {
	if err := cmdflags.OneOf("-o", f.format, diffText, diffJSON, diffMarkdown, diffHTML, diffName); err != nil {
		return err
	}
	if out == "" {
		return session.BadUsage(errors.New("--out FILE is missing (to see the changes only, run lynqctl diff)"))
	}
	if err := cmdflags.CheckOut(out); err != nil {
		return err
	}
	o, err := f.Options()
	if err != nil {
		return err
	}
	failOn, err := f.FailOn.Codes(nil, "")
	if err != nil {
		return err
	}
	expand, err := f.expand.Groups()
	if err != nil {
		return err
	}
	return diffcmd.Run(ctx, a.Engine(f.Run.Output), o, &diffcmd.Output{
		FailOn: failOn,
		Show: func(ctx context.Context, report *diff.Report) (bool, error) {
			return a.showDiff(ctx, f, expand, nil, report)
		},
		Plan: func(file *planfile.File) error { return cmdflags.WritePlan(out, file) },
	})
}
