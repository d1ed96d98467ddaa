package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/gitops"
)

// The layouts of a tree.
const (
	layoutFolders = "node-folder"
	layoutFiles   = "node-file"
)

// noApps is what --emit-apps takes for no objects, where an earlier run wrote some.
const noApps = "none"

// treeFlags are the flags of render that are about a tree of files, and about who
// applies the manifests.
type treeFlags struct {
	engine.TreeOptions
	layout    string
	maxDelete string
	target    string
	emit      string
	report    string // how changes are told
	hooks     tombstoneHookFlags
	losses    []gitops.Loss // policies that the target does not honour
}

func defaultTreeFlags() treeFlags {
	return treeFlags{layout: layoutFolders, maxDelete: plan.DefaultMaxDelete().String(), target: string(gitops.TargetPlain)}
}

func (f *treeFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.Dir, "output-dir", "", "write a tree of files into this folder, and leave alone what else is in it")
	flags.StringVar(&f.layout, "layout", f.layout, "of the tree: "+layoutFolders+" (a file per object) or "+layoutFiles+" (a file per node)")
	flags.BoolVar(&f.Sharded, "shard", false, "spread nodes over 256 folders, for many thousands of them")
	flags.BoolVar(&f.Force, "force", false, "overwrite and remove files though others wrote or changed them")
	flags.BoolVar(&f.DryRun, "dry-run", false, "say what would change in the tree, and write nothing")
	flags.BoolVar(&f.Limits.AllowEmpty, "allow-empty", false, "let all nodes of a hub go that has no active row any more")
	flags.StringVar(&f.maxDelete, "max-delete", f.maxDelete, "refuse to delete more than this many of a hub's nodes (a number or a percentage)")
	flags.BoolVar(&f.PlainSecrets, "plain-secrets", false, "write Secrets with their values, for all who can read the tree")
	flags.BoolVar(&f.TellChanged, "exit-code", false, "exit with 4 when the tree changes")

	f.hooks.register(flags)
	flags.StringVar(&f.target, "target", f.target, "plain, argo or flux: who applies the manifests, and gets the policies as annotations")
	flags.BoolVar(&f.Strict, "strict", false, "refuse where the target does not honour a policy")
	flags.StringVar(&f.emit, "emit-apps", "", "also write objects that point the target at the tree, and hold the policies that belong there: for argo "+
		string(gitops.AppsApplications)+" or "+string(gitops.AppsApplicationSet)+", for flux "+string(gitops.AppsKustomizations)+" or "+string(gitops.AppsOrdered)+
		"; "+noApps+" removes them")
	flags.StringVar(&f.Emit.RepoURL, "repo-url", "", "with --emit-apps: the repository that the tree is in (flux: without it, a GitRepository of that name is there already)")
	flags.StringVar(&f.Emit.Revision, "revision", "", "with --repo-url: its branch (argo: or tag or commit; default HEAD, flux: main)")
	flags.StringVar(&f.Emit.Path, "repo-path", "", "with --emit-apps: the tree's path in the repository")
	flags.StringVar(&f.Emit.Name, "app-name", "", "with --emit-apps: name of the ApplicationSet or GitRepository (default lynqctl; flux without --repo-url: flux-system)")
	flags.StringVar(&f.Emit.Namespace, "app-namespace", "", "with --emit-apps: namespace of these objects (default argocd or flux-system)")
	flags.StringVar(&f.Emit.Project, "app-project", "", "with --emit-apps for argo: project of the Applications (default default)")
	flags.StringVar(&f.Emit.DestServer, "dest-server", "", "with --emit-apps for argo: URL of the cluster that the objects go to (default: the one Argo CD runs in)")
	flags.StringVar(&f.Emit.DestName, "dest-name", "", "with --emit-apps for argo: name of that cluster in Argo CD, instead of --dest-server")
}

// treeOnly are the flags that mean nothing without a tree, and appsOnly those that mean
// nothing without objects that point a target at it.
func treeOnly() []string {
	return []string{"layout", "shard", "force", "dry-run", "allow-empty", "max-delete", "plain-secrets", "exit-code", "tombstone-hooks", "tombstone-hook-image", "include-data"}
}

func appsOnly() []string {
	return []string{"repo-url", "revision", "repo-path", "app-name", "app-namespace", "app-project", "dest-server", "dest-name"}
}

// check checks the flags, and completes the options.
func (f *treeFlags) check(cmd *cobra.Command, r *renderFlags) error {
	if err := f.checkTarget(cmd); err != nil || f.Dir == "" {
		return err
	}
	if err := oneOf("--layout", f.layout, layoutFolders, layoutFiles); err != nil {
		return err
	}
	f.PerNode = f.layout == layoutFiles
	limit, err := plan.ParseMaxDelete(f.maxDelete)
	switch {
	case err != nil:
		return engine.BadUsage(fmt.Errorf("--max-delete: %w", err))
	case r.Stream:
		return engine.BadUsage(errors.New("--stream and --output-dir do not go together: a tree is written when everything has rendered"))
	case r.selector != "" && f.PerNode:
		return engine.BadUsage(errors.New("-l leaves out a part of nodes, and --layout=" + layoutFiles + " writes whole ones (use --node or --form)"))
	}
	f.Limits.MayGo, f.Limits.MaxDelete = limit.Of, limit.String()
	return nil
}

// checkTarget checks the flags about who applies the manifests.
func (f *treeFlags) checkTarget(cmd *cobra.Command) error {
	target, err := gitops.ParseTarget(f.target)
	if err != nil {
		return engine.BadUsage(fmt.Errorf("--%w", err))
	}
	if f.Target = target; f.Strict && target == gitops.TargetPlain {
		return engine.BadUsage(errors.New("--strict is about what a target honours: choose one with --target=argo or --target=flux"))
	}
	if f.Hooks, err = f.hooks.options(cmd, target); err != nil {
		return engine.BadUsage(err)
	}
	if f.emit == "" || f.emit == noApps {
		if i := slices.IndexFunc(appsOnly(), func(name string) bool { return cmd.Flags().Changed(name) }); i >= 0 {
			return engine.BadUsage(fmt.Errorf("--%s is about the objects that point a target at the tree: choose some with --emit-apps", appsOnly()[i]))
		}
	}
	switch {
	case f.emit == "":
		return nil
	case f.Dir == "":
		return engine.BadUsage(errors.New("--emit-apps is about a tree of files: say where with --output-dir"))
	case f.emit == noApps:
		f.DropApps = true
		return nil
	case f.layout == layoutFiles:
		return engine.BadUsage(errors.New("--emit-apps needs a folder per node: leave out --layout=" + layoutFiles))
	}
	if f.Emit.Kind, err = gitops.ParseApps(target, f.emit); err == nil {
		err = f.Emit.Check()
	}
	if err != nil {
		return engine.BadUsage(fmt.Errorf("--emit-apps: %w", err))
	}
	return nil
}

// showLosses tells which policies the target does not honour, those that are new to
// the tree. A report has all of them.
func (a *app) showLosses(f *treeFlags, all, untold []gitops.Loss) error {
	f.losses = all
	if len(untold) == 0 {
		return nil
	}
	return ui.PrintLosses(f.Target, untold, a.noteOut())
}

// mostExplained is how many changed objects a report looks into.
const mostExplained = 1000

// treeReport is the report of -o json. A run that is refused has refusals only.
type treeReport struct {
	Dir    string `json:"dir"`
	DryRun bool   `json:"dryRun"`
	*gitops.Report
	Refusals []gitops.Refusal `json:"refusals,omitempty"`
	// Losses are the policies that the target does not honour.
	Losses []gitops.Loss `json:"losses,omitempty"`
}

// showTree tells what has changed, or what would.
func (a *app) showTree(f *treeFlags, t *engine.Tree) error {
	switch f.report {
	case "json":
		t.Report.Explain(mostExplained, t.Fields)
		return a.writeReport(f, &treeReport{Report: t.Report})
	case "markdown":
		t.Report.Explain(mostExplained, t.Fields)
		return t.Report.WriteMarkdown(a.out())
	}
	return ui.PrintTree(t.Report, f.DryRun, a.noteOut())
}

// refuseTree tells what guards have against the run. A comment on a pull request
// shows what it would have come to, too.
func (a *app) refuseTree(f *treeFlags, t *engine.Tree) error {
	refusals := t.Report.Refusals
	ui.PrintTreeRefusals(refusals, a.errOut())
	switch f.report {
	case "json":
		return a.writeReport(f, &treeReport{Refusals: refusals})
	case "markdown":
		return a.showTree(f, t)
	}
	return nil
}

func (a *app) writeReport(f *treeFlags, r *treeReport) error {
	r.Dir, r.DryRun, r.Losses = f.Dir, f.DryRun, f.losses
	e := json.NewEncoder(a.out().Data())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
