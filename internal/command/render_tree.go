package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/rendercmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/page"
)

// The layouts of a tree.
const (
	layoutFolders = "node-folder"
	layoutFiles   = "node-file"
)

// trailers is the output format for the end of a commit message.
const trailers = "trailers"

// noApps is the value of --emit-apps that removes the objects of an earlier run.
const noApps = "none"

// treeFlags are the flags of render about a tree of files, and about the tool that applies
// the manifests.
type treeFlags struct {
	options   rendercmd.Options
	layout    string
	maxDelete string
	target    string
	emit      string
	report    string // the output format for changes
	expand    cmdflags.Expand
	expanded  ui.Expand
	hooks     tombstoneHookFlags
	failOn    cmdflags.FailOn
	losses    []policy.Loss // policies that the target ignores
}

func defaultTreeFlags() treeFlags {
	return treeFlags{layout: layoutFolders, maxDelete: limits.DefaultMaxDelete().String(), target: string(policy.Plain)}
}

func (f *treeFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.options.Dir, "output-dir", "", "write a tree of files to this directory")
	flags.StringVar(&f.layout, "layout", f.layout, "tree layout: "+layoutFolders+" (one file per object) or "+layoutFiles+" (one file per node)")
	flags.BoolVar(&f.options.Spread, "spread", false, "spread nodes over 256 folders (for very large trees)")
	flags.BoolVar(&f.options.Force, "force", false, "overwrite or remove files that lynqctl didn't write")
	flags.BoolVar(&f.options.DryRun, "dry-run", false, "show what would change in the tree, and write nothing")
	flags.BoolVar(&f.options.Limits.AllowEmpty, "allow-empty", false, cmdflags.AllowEmptyUsage)
	flags.StringVar(&f.maxDelete, "max-delete", f.maxDelete, "refuse to delete more than this many of a hub's nodes (a number or a percentage)")
	f.failOn.Register(flags)
	f.expand.Register(flags)
	flags.IntVar(&f.options.LastStage, "stage", 0, "keep the files of nodes after this stage of a rollout, counted from 1 (0 means none)")
	cmdflags.RegisterNoGrace(flags, &f.options.NoGrace)
	flags.BoolVar(&f.options.PlainSecrets, "plain-secrets", false, "write Secret values in plain text (anyone who can read the tree can read them)")
	flags.BoolVar(&f.options.TellChanged, "exit-code", false, "exit with code 4 if the tree changed")

	f.hooks.register(flags)
	flags.StringVar(&f.target, "target", f.target, "write policies as annotations for this tool: plain, argo, or flux")
	flags.BoolVar(&f.options.Strict, "strict", false, "fail if the target can't honor a policy, or a form shows a secret column outside a Secret")
	flags.StringVar(&f.emit, "emit-apps", "", "also write the objects that deploy the tree: for argo "+
		string(policy.AppsApplications)+" or "+string(policy.AppsApplicationSet)+", for flux "+string(policy.AppsKustomizations)+" or "+string(policy.AppsOrdered)+
		"; or "+noApps+" to remove them")
	flags.StringVar(&f.options.Emit.RepoURL, "repo-url", "", "Git repository of the tree (with --emit-apps)")
	flags.StringVar(&f.options.Emit.Revision, "revision", "", "branch (with --repo-url; argo also takes a tag or commit; default: HEAD for argo, main for flux)")
	flags.StringVar(&f.options.Emit.Path, "repo-path", "", "path of the tree in the repository (with --emit-apps)")
	flags.StringVar(&f.options.Emit.Name, "app-name", "", "name of the ApplicationSet or GitRepository (with --emit-apps; default: lynqctl, or flux-system without --repo-url)")
	flags.StringVar(&f.options.Emit.Namespace, "app-namespace", "", "namespace of these objects (with --emit-apps; default: argocd or flux-system)")
	flags.StringVar(&f.options.Emit.Project, "app-project", "", "project of the Applications (with --emit-apps for argo; default: default)")
	flags.StringVar(&f.options.Emit.DestServer, "dest-server", "", "URL of the destination cluster (with --emit-apps for argo; default: that of Argo CD)")
	flags.StringVar(&f.options.Emit.DestName, "dest-name", "", "Argo CD's name of the destination cluster, instead of --dest-server")
}

// treeOnly returns the flags that need a tree. appsOnly returns those that need objects
// which point a target at the tree.
func treeOnly() []string {
	return []string{"layout", "spread", "force", "dry-run", "allow-empty", "max-delete", "fail-on", "expand", "stage", "no-grace", "plain-secrets", "exit-code", "tombstone-hooks", "tombstone-hook-image", "include-data"}
}

func appsOnly() []string {
	return []string{"repo-url", "revision", "repo-path", "app-name", "app-namespace", "app-project", "dest-server", "dest-name"}
}

// check checks the flags, and completes the options.
func (f *treeFlags) check(cmd *cobra.Command, r *cmdflags.Render) error {
	if err := f.checkTarget(cmd); err != nil || f.options.Dir == "" {
		return err
	}
	if err := cmdflags.OneOf("--layout", f.layout, layoutFolders, layoutFiles); err != nil {
		return err
	}
	f.options.PerNode = f.layout == layoutFiles
	if err := cmdflags.CheckNoGrace(f.options.NoGrace, r.Nodes); err != nil {
		return err
	}
	if f.options.LastStage < 0 {
		return session.BadUsage(errors.New("--stage cannot be negative"))
	}
	limit, err := limits.ParseMaxDelete(f.maxDelete)
	switch {
	case err != nil:
		return session.BadUsage(fmt.Errorf("--max-delete: %w", err))
	case r.Options.Stream:
		return session.BadUsage(errors.New("--stream and --output-dir do not go together: a tree is written when everything has rendered"))
	case r.Selector != "" && f.options.PerNode:
		return session.BadUsage(errors.New("-l leaves out a part of nodes, and --layout=" + layoutFiles + " writes whole ones (use --node or --form)"))
	}
	f.options.Limits.MaxDelete = limit
	if f.expanded, err = f.expand.Groups(); err != nil {
		return err
	}
	f.options.FailOn, err = f.failOn.Codes([]changeset.Code{changeset.ClaimShrinks, changeset.ImmutableField, changeset.ImageUnpinned, changeset.ForceBegins}, "a tree has neither values nor all policies, and")
	return err
}

// checkTarget checks the flags about the tool that applies the manifests.
func (f *treeFlags) checkTarget(cmd *cobra.Command) error {
	target, err := policy.ParseTarget(f.target)
	if err != nil {
		return session.BadUsage(fmt.Errorf("--%w", err))
	}
	f.options.Target = target
	if f.options.Hooks, err = f.hooks.options(cmd, target); err != nil {
		return session.BadUsage(err)
	}
	if f.emit == "" || f.emit == noApps {
		if i := slices.IndexFunc(appsOnly(), func(name string) bool { return cmd.Flags().Changed(name) }); i >= 0 {
			return session.BadUsage(fmt.Errorf("--%s is about the objects that point a target at the tree: choose some with --emit-apps", appsOnly()[i]))
		}
	}
	switch {
	case f.emit == "":
		return nil
	case f.options.Dir == "":
		return session.BadUsage(errors.New("--emit-apps is about a tree of files: say where with --output-dir"))
	case f.emit == noApps:
		f.options.DropApps = true
		return nil
	case f.layout == layoutFiles:
		return session.BadUsage(errors.New("--emit-apps needs a folder per node: leave out --layout=" + layoutFiles))
	}
	if f.options.Emit.Kind, err = policy.ParseApps(target, f.emit); err == nil {
		err = f.options.Emit.Check()
	}
	if err != nil {
		return session.BadUsage(fmt.Errorf("--emit-apps: %w", err))
	}
	return nil
}

// showLosses shows the policies that the target ignores, if they are new to the tree. A
// report has all of them.
func (a *app) showLosses(f *treeFlags, all, untold []policy.Loss) error {
	f.losses = all
	if len(untold) == 0 {
		return nil
	}
	return ui.PrintLosses(f.options.Target, untold, a.NoteOut())
}

// treeReport is the report of -o json. If a guard refused the run, it has only the
// refusals.
type treeReport struct {
	Dir    string `json:"dir"`
	DryRun bool   `json:"dryRun"`
	*gitops.Report
	// Groups are the groups of all changes, as in the output of diff.
	Groups   []any         `json:"groups,omitempty"`
	Refusals []treeRefusal `json:"refusals,omitempty"`
	// Losses are the policies that the target ignores.
	Losses []policy.Loss `json:"losses,omitempty"`
}

// treeRefusal is the JSON form of a guard's refusal.
type treeRefusal struct {
	Guard plan.Guard `json:"guard"`
	Hub   string     `json:"hub,omitempty"`
	Path  string     `json:"path,omitempty"`
	What  string     `json:"what"`
	Fix   string     `json:"fix"`
}

func treeRefusals(refusals []plan.Refusal) []treeRefusal {
	all := make([]treeRefusal, len(refusals))
	for i, r := range refusals {
		all[i] = treeRefusal{r.Guard, r.Hub.String(), r.Path, r.What, r.Fix}
	}
	return all
}

// showTree shows the changes of a run, or of a dry run.
func (a *app) showTree(f *treeFlags, t *rendercmd.Tree) error {
	switch f.report {
	case diffJSON:
		return a.writeReport(f, &treeReport{Report: t.Report, Groups: ui.Groups(t.Report.Groups().Set)})
	case diffMarkdown:
		return t.Report.WriteMarkdown(a.Out())
	case diffHTML:
		return page.Write(a.Out(), t.Report.Page("lynqctl render", f.options.DryRun || len(t.Report.Refusals) > 0))
	}
	if err := ui.PrintTree(t.Report, f.expanded, f.options.DryRun, a.NoteOut()); err != nil || f.report != trailers {
		return err
	}
	for _, line := range t.Trailers() {
		if _, err := fmt.Fprintf(a.Out().Data(), "%s: %s\n", line.Key, tty.Safe(line.Value)); err != nil {
			return err
		}
	}
	return nil
}

// refuseTree shows why guards refuse the run. A comment on a pull request, a page, and
// --expand also show what the run would have written.
func (a *app) refuseTree(f *treeFlags, t *rendercmd.Tree) error {
	refusals := t.Report.Refusals
	if text := f.report == "table" || f.report == trailers; text && f.expanded != (ui.Expand{}) {
		if err := ui.PrintTree(t.Report, f.expanded, true, a.NoteOut()); err != nil {
			return err
		}
	}
	ui.PrintTreeRefusals(refusals, a.ErrOut())
	switch f.report {
	case diffJSON:
		return a.writeReport(f, &treeReport{Refusals: treeRefusals(refusals)})
	case diffMarkdown, diffHTML:
		return a.showTree(f, t)
	}
	return nil
}

func (a *app) writeReport(f *treeFlags, r *treeReport) error {
	r.Dir, r.DryRun, r.Losses = f.options.Dir, f.options.DryRun, f.losses
	e := json.NewEncoder(a.Out().Data())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
