package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/extdiff"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/engine"
)

// diffFlags are the flags of diff: those of apply that decide what would change.
type diffFlags struct {
	applyFlags
	format string
}

// The outputs of diff.
const (
	diffText     = "diff"
	diffJSON     = "json"
	diffMarkdown = "markdown"
	diffName     = "name"
)

func (a *app) diffCommand() *cobra.Command {
	f := diffFlags{applyFlags: defaultApplyFlags(), format: diffText}
	f.render.Nothing, f.run.dryRun, f.run.Events, f.Wait = "nothing was compared", string(engine.ModeServer), false, false
	cmd := &cobra.Command{
		Use:   "diff -f PATH...",
		Short: "Show what apply would change",
		Long: `Render rows and forms as apply does, have the server try every write without
keeping it, and show how each object would differ from what is there, and why:
because of the form, a row (and which columns) or a new version of lynqctl, or
because another client changed it (and which one). Nothing is written, no
inventory and no lock either.

Values of Secrets show as changed or unchanged only. What the server and lynqctl
keep for themselves is left out.

KUBECTL_EXTERNAL_DIFF names another program to show differences with, as for
kubectl diff: it gets two directories.

Exit codes: 0 nothing would change; 1 something would; 2 bad input, or something
that apply would fail at; 3 a guard would refuse the apply; 130 interrupted.`,
		Example: `  # What would apply change?
  lynqctl diff -f forms/

  # One tenant, with another diff program
  KUBECTL_EXTERNAL_DIFF="diff -u -N" lynqctl diff -f forms/ --node acme-web

  # In a pull request: as a comment
  lynqctl diff -f forms/ -o markdown > comment.md

  # Which objects were changed by other clients?
  lynqctl diff -f forms/ -o json |
    jq -r 'select(any(.changes[]?; .cause == "drift")) | "\(.kind)/\(.name)"'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.diff(cmd.Context(), &f) },
	}
	flags := cmd.Flags()
	f.render.registerCluster(flags)
	flags.StringVarP(&f.format, "output", "o", f.format, "diff, markdown for a comment on a pull request, name, or json for one object per line")
	f.registerChoice(flags, "do not refuse when a hub has no active row any more")
	flags.IntVar(&f.run.Concurrency, "concurrency", f.run.Concurrency, "nodes to try at once")
	return cmd
}

func (a *app) diff(ctx context.Context, f *diffFlags) error {
	if err := oneOf("-o", f.format, diffText, diffJSON, diffMarkdown, diffName); err != nil {
		return err
	}
	external, err := extdiff.Find(a.getenv)
	if err != nil {
		return engine.BadUsage(err)
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	if f.format != diffText {
		external = nil
	}
	return a.engine(f.run.output).Diff(ctx, o, external != nil, func(ctx context.Context, report *diff.Report) (bool, error) {
		return a.showDiff(ctx, f, external, report)
	})
}

// showDiff writes a report, and tells whether anything differs.
func (a *app) showDiff(ctx context.Context, f *diffFlags, external *extdiff.Program, report *diff.Report) (differs bool, err error) {
	out := a.out()
	differs = report.Counts().Objects > 0
	switch {
	case f.format == diffJSON:
		return differs, ui.PrintDiffJSON(report, out)
	case f.format == diffMarkdown:
		_, err = io.WriteString(out, diff.Markdown(report))
	case f.format == diffName:
		err = ui.PrintDiffNames(report, out)
	case external != nil:
		differs, err = external.Show(ctx, report, out, a.stdout.Handed(), a.stderr.Handed())
	default:
		err = ui.PrintDiff(report, out)
	}
	if err == nil {
		ui.PrintDiffProblems(report, a.errOut())
	}
	return differs, err
}
