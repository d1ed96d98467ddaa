package command

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/extdiff"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/usecase/diffcmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/page"
)

// diffFlags are the flags of diff: those of apply that affect the changes.
type diffFlags struct {
	cmdflags.Apply
	command string // diff or plan
	format  string
	expand  cmdflags.Expand
}

// The output formats of diff.
const (
	diffText     = "diff"
	diffJSON     = "json"
	diffMarkdown = "markdown"
	diffHTML     = "html"
	diffName     = "name"
)

func newDiffFlags(command string) diffFlags {
	f := diffFlags{Apply: cmdflags.NewApply(), command: command, format: diffText}
	f.Render.Options.Nothing, f.Run.DryRun, f.Run.Events, f.Given.Wait = "nothing was compared", string(session.ModeServer), false, false
	return f
}

// register registers the flags of diff.
func (f *diffFlags) register(flags *pflag.FlagSet) {
	f.Render.RegisterCluster(flags)
	cmdflags.RegisterKeptTo(flags, &f.Render.Options.Access)
	flags.StringVarP(&f.format, "output", "o", f.format, "output format: diff, name, markdown (for a pull request), html (a page for a browser), or json (one object per line)")
	f.RegisterChoice(flags)
	f.expand.Register(flags)
	f.FailOn.Register(flags)
	flags.IntVar(&f.Run.Concurrency, "concurrency", f.Run.Concurrency, "number of nodes to process in parallel")
}

func diffCommand(a *app) *cobra.Command {
	f := newDiffFlags("diff")
	cmd := &cobra.Command{
		Use:        "diff -f PATH...",
		SuggestFor: []string{"preview", "compare"},
		Short:      "Show what apply would change",
		Long: `Show how each object would change if you ran apply, and why. lynqctl sends each
write to the API server as a dry run, so the result includes defaults,
admission, and conflicts. diff writes nothing, not even an inventory or a lock.
If you may not write a kind, diff compares it without the server, and says so.

diff names the cause of each change, such as the form, the columns of the row, a
new version of lynqctl, or another client. For values of Secrets, it shows only
whether they change.

Nodes that change in the same way are shown once, as a group with a sample.
--expand shows each of them. diff also names what a reviewer must know, by codes
such as data-loss or pods-restart; --fail-on refuses them.

To use your own diff program, set KUBECTL_EXTERNAL_DIFF, as for kubectl diff.

Exit codes:
  0    nothing would change
  1    something would change
  2    invalid input, or apply would fail
  3    a guard would refuse to apply, or --fail-on refuses
  130  interrupted`,
		Example: `  # Preview every field that apply would change
  lynqctl diff -f forms/

  # Write a comment for a pull request
  lynqctl diff -f forms/ -o markdown > comment.md

  # Show each object of the first group
  lynqctl diff -f forms/ --expand=1

  # Refuse changes that delete data or grant permissions
  lynqctl diff -f forms/ --fail-on data-loss,rights-grow

  # List objects that another client changed
  lynqctl diff -f forms/ -o json |
    jq -r 'select(any(.changes[]?; .cause == "drift")) | "\(.kind)/\(.name)"'`,
		Args: cmdflags.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.diff(cmd.Context(), &f) },
	}
	f.register(cmd.Flags())
	cmd.Flags().Lookup("allow-empty").Usage = "compare a hub that has nodes and no active rows, too"
	f.Render.RegisterShard(cmd.Flags(), a.World.Getenv)
	return cmd
}

func (a *app) diff(ctx context.Context, f *diffFlags) error {
	if err := cmdflags.OneOf("-o", f.format, diffText, diffJSON, diffMarkdown, diffHTML, diffName); err != nil {
		return err
	}
	external, err := extdiff.Find(a.World.Getenv)
	if err != nil {
		return session.BadUsage(err)
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
	if f.format != diffText {
		external = nil
	}
	return diffcmd.Run(ctx, a.Engine(f.Run.Output), o, &diffcmd.Output{KeepSides: external != nil, FailOn: failOn, Show: func(ctx context.Context, report *diff.Report) (bool, error) {
		return a.showDiff(ctx, f, expand, external, report)
	}})
}

// showDiff writes a report, and reports whether anything differs.
func (a *app) showDiff(ctx context.Context, f *diffFlags, expand ui.Expand, external *extdiff.Program, report *diff.Report) (differs bool, err error) {
	if err := expand.Check(report.Changes().Set); err != nil {
		return false, err
	}
	out := a.Out()
	differs = report.Counts().Objects > 0
	switch {
	case f.format == diffJSON:
		return differs, ui.PrintDiffJSON(report, out)
	case f.format == diffMarkdown:
		_, err = io.WriteString(out, diff.Markdown(report))
	case f.format == diffHTML:
		err = page.Write(out, diff.Page("lynqctl "+f.command, report))
	case f.format == diffName:
		err = ui.PrintDiffNames(report, out)
	case external != nil:
		differs, err = external.Show(ctx, report, out, a.World.Stdout.Handed(), a.World.Stderr.Handed())
	default:
		err = ui.PrintDiff(report, expand, out)
	}
	if err == nil {
		ui.PrintDiffProblems(report, a.ErrOut())
	}
	return differs, err
}
