package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/gitops"
)

// renderCommandFlags are the flags of render.
type renderCommandFlags struct {
	renderFlags
	tree         treeFlags
	allowVarying bool
	check        bool
	second       bool // this is the second pass of a check
}

func (a *app) renderCommand() *cobra.Command {
	f := renderCommandFlags{renderFlags: renderFlags{RenderOptions: engine.RenderOptions{Nothing: "nothing was written"}}, tree: defaultTreeFlags()}
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
	flags := cmd.Flags()
	f.registerLocal(flags)
	flags.StringVarP(&f.format, "output", "o", f.format, "yaml, or json for one object per line; with --output-dir table, json or markdown, for what changes")
	flags.StringSliceVar(&f.nodes, "node", nil, "only these nodes: UID-FORM, or the name that status shows")
	flags.StringVarP(&f.selector, "selector", "l", "", "only objects with these labels, as kubectl takes them")
	flags.BoolVar(&f.Stream, "stream", false, "write as it goes, not when everything has rendered")
	flags.BoolVar(&f.allowVarying, "allow-nondeterministic", false, "let resources with creationPolicy Once call functions such as randAlphaNum")
	flags.BoolVar(&f.KeepGoing, "keep-going", false, "write the nodes that render, though others do not")
	f.tree.register(flags)
	flags.BoolVar(&f.check, "check", false, "render twice, the second time in another process with the rows shuffled, and tell whether both give the same")
	flags.BoolVar(&f.second, secondPassFlag, false, "")
	_ = flags.MarkHidden(secondPassFlag) // the flag is there
	return cmd
}

// resolve checks the flags, of which some mean nothing beside others.
func (f *renderCommandFlags) resolve(cmd *cobra.Command) error {
	f.RefuseVarying = !f.allowVarying
	if err := f.tree.check(cmd, &f.renderFlags); err != nil {
		return err
	}
	if f.tree.Dir == "" {
		if cmd.Flags().Changed("output-dir") {
			return engine.BadUsage(errors.New("--output-dir is empty (an unset variable, perhaps)"))
		}
		for _, name := range treeOnly() {
			if cmd.Flags().Changed(name) {
				return engine.BadUsage(fmt.Errorf("--%s is about a tree of files: say where with --output-dir", name))
			}
		}
		if f.check && (f.Stream || f.format != "") {
			return engine.BadUsage(errors.New("--check writes no manifests: leave out --stream and -o"))
		}
		f.format = cmp.Or(f.format, "yaml")
		return f.renderFlags.check()
	}
	if f.check {
		return engine.BadUsage(errors.New("--check and --output-dir do not go together: check first, then write"))
	}
	f.tree.report = cmp.Or(f.format, "table")
	if err := oneOf("-o", f.tree.report, "table", "json", "markdown"); err != nil {
		return err
	}
	f.format = "yaml"
	return f.renderFlags.check()
}

func (a *app) render(ctx context.Context, f *renderCommandFlags) error {
	e, o := a.engine(""), &f.tree.TreeOptions
	o.RenderOptions = f.RenderOptions
	o.Losses = func(all, untold []gitops.Loss) error { return a.showLosses(&f.tree, all, untold) }
	o.Show = func(t *engine.Tree) error { return a.showTree(&f.tree, t) }
	o.Refuse = func(t *engine.Tree) error { return a.refuseTree(&f.tree, t) }
	if f.check {
		return e.RenderCheck(ctx, &engine.CheckOptions{TreeOptions: *o, Second: f.second, Again: a.secondPass()}, a.out().Data())
	}
	return e.Render(ctx, o, a.out().Data())
}

// secondPassFlag makes a process the second one of a check.
const secondPassFlag = "check-second-pass"

// secondPass is this command line, as that of the second pass of a check.
func (a *app) secondPass() []string {
	end := slices.Index(a.args, "--")
	if end < 0 {
		end = len(a.args)
	}
	return append([]string{a.program}, slices.Insert(slices.Clone(a.args), end, "--"+secondPassFlag)...)
}
