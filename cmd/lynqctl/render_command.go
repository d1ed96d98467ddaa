package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// renderCommandFlags are the flags of render alone.
type renderCommandFlags struct {
	renderFlags
	dir    dirFlags
	check  checkFlags
	target targetFlags
}

func (a *app) renderCommand() *cobra.Command {
	f := renderCommandFlags{renderFlags: renderFlags{nothing: "nothing was written"}, dir: defaultDirFlags()}
	cmd := &cobra.Command{
		Use:   "render -f PATH...",
		Short: "Render rows and forms into manifests",
		Long: `Render every active row of every hub with every form of the hub, and write the
manifests to standard output, or as a tree of files for Git. No cluster is
needed.

The output is all or nothing: it is written when everything has rendered, since
what follows in a pipe would take a part for the whole. The same rows and forms
always give the same bytes.

With --output-dir, each node gets a folder with a file per object. Only files
whose content changes are written, and only those removed that lynqctl wrote: an
index in the tree lists them.

Exit codes: 0 done; 1 something failed, the rest was done; 2 bad input, nothing
was written; 3 refused by a guard, nothing was written; 4 the tree changed, with
--exit-code; 130 interrupted.`,
		Example: `  # Show what one tenant gets
  lynqctl render -f forms/ --node acme-web

  # Render from a read replica, for review in Git
  lynqctl render -f forms/ --source mysql://ci@db.example/crm > all.yaml

  # Bring the tree of a Git repository up to date, for Argo CD
  lynqctl render -f forms/ --output-dir tenants/ --target argo

  # In a pull request: what would change, as a comment
  lynqctl render -f forms/ --output-dir tenants/ --dry-run -o markdown

  # Hand a form and rows from elsewhere to kubectl
  lynqctl render -f forms/ --source csv:tenants.csv |
    kubectl apply --server-side -f -`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.resolve(cmd); err != nil {
				return err
			}
			return a.render(cmd.Context(), &f)
		},
	}
	f.inputFlags.register(cmd)
	f.clusterFlags.register(cmd)
	f.registerRows(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&f.format, "output", "o", f.format, "yaml, or json for one object per line; with --output-dir table, json or markdown, for what changes")
	flags.StringSliceVar(&f.nodes, "node", nil, "only these nodes: UID-FORM, or the name that status shows")
	flags.StringVarP(&f.selector, "selector", "l", "", "only objects with these labels, as kubectl takes them")
	flags.BoolVar(&f.stream, "stream", false, "write as it goes, not when everything has rendered")
	flags.BoolVar(&f.allowVarying, "allow-nondeterministic", false, "let resources with creationPolicy Once call functions such as randAlphaNum")
	flags.BoolVar(&f.keepGoing, "keep-going", false, "write the nodes that render, though others do not")
	f.target.register(cmd)
	f.dir.register(cmd)
	f.check.register(cmd)
	return cmd
}

// resolve finds out what -o is, and which flags do not go together.
func (f *renderCommandFlags) resolve(cmd *cobra.Command) error {
	if err := f.target.check(cmd, f.dir.dir != "", f.dir.layout == layoutFiles); err != nil {
		return err
	}
	if f.dir.dir == "" {
		if cmd.Flags().Changed("output-dir") {
			return badUsage(errors.New("--output-dir is empty (an unset variable, perhaps)"))
		}
		for _, name := range dirOnly() {
			if cmd.Flags().Changed(name) {
				return badUsage(fmt.Errorf("--%s is about a tree of files: say where with --output-dir", name))
			}
		}
		if f.check.check && (f.stream || f.format != "") {
			return badUsage(errors.New("--check writes no manifests: leave out --stream and -o"))
		}
		f.format = cmp.Or(f.format, "yaml")
		return nil
	}
	if f.check.check {
		return badUsage(errors.New("--check and --output-dir do not go together: check first, then write"))
	}
	f.dir.report = cmp.Or(f.format, "table")
	if err := oneOf("-o", f.dir.report, "table", "json", "markdown"); err != nil {
		return err
	}
	f.format = "yaml"
	return f.dir.check(&f.renderFlags)
}

// render is the command: inputs, then rows, then output.
func (a *app) render(ctx context.Context, f *renderCommandFlags) error {
	settings, err := f.settings()
	if err != nil {
		return err
	}
	if f.check.check {
		remembering := *a
		remembering.stdin = f.check.stdin.reader(a.stdin)
		a = &remembering
	}
	ctx, cancel := f.deadline(ctx)
	defer cancel()
	inputs, hubs, err := f.prepare(ctx, a, f.optionsFor, "nothing was rendered")
	if err != nil {
		return err
	}
	if err := a.tellLosses(&f.target); err != nil {
		return err
	}
	switch {
	case f.check.check:
		return a.renderCheck(ctx, f, settings, inputs, hubs)
	case f.dir.dir != "":
		return a.renderDir(ctx, f, settings, inputs, hubs)
	case f.stream:
		return a.renderStream(ctx, f, settings, inputs, hubs)
	}
	return a.renderWhole(ctx, f, settings, inputs, hubs)
}

// renderStream writes as it goes.
func (a *app) renderStream(ctx context.Context, f *renderCommandFlags, settings render.Settings, inputs *form.Inputs, hubs []hubPrograms) error {
	out := bufio.NewWriterSize(a.stdout, 1<<16)
	run, err := a.renderRows(ctx, &f.renderFlags, settings, inputs, hubs, render.NewStream(out))
	if flushErr := out.Flush(); err == nil && flushErr != nil {
		err = &render.SinkError{Err: flushErr}
	}
	return f.ended(run.Run, err)
}

// renderWhole writes when everything has rendered.
func (a *app) renderWhole(ctx context.Context, f *renderCommandFlags, settings render.Settings, inputs *form.Inputs, hubs []hubPrograms) error {
	spool := render.NewSpool(render.DefaultSpoolMemory)
	defer func() { _ = spool.Close() }() // what it kept has been written, or must not be
	run, err := a.renderRows(ctx, &f.renderFlags, settings, inputs, hubs, spool)
	if err != nil || run.Err() != nil && !f.keepGoing || len(run.Missing()) > 0 {
		return f.ended(run.Run, err)
	}
	if _, err := spool.WriteTo(a.stdout); err != nil {
		return failed(fmt.Errorf("write the manifests: %w", err))
	}
	return f.ended(run.Run, nil)
}
