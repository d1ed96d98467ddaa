package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// noApps is what --emit-apps takes for no objects, where an earlier run wrote
// some.
const noApps = "none"

// targetFlags are the flags of render about who applies the manifests.
type targetFlags struct {
	name   string
	strict bool
	emit   string
	apps   gitops.AppOptions

	target gitops.Target
	losses []gitops.Loss // of the forms, once they are annotated
}

func (f *targetFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.name, "target", string(gitops.TargetPlain), "plain, argo or flux: who applies the manifests, and gets the policies as annotations")
	flags.BoolVar(&f.strict, "strict", false, "refuse where the target does not honour a policy")
	flags.StringVar(&f.emit, "emit-apps", "", "also write objects that point the target at the tree, and hold the policies that belong there: for argo "+
		string(gitops.AppsApplications)+" or "+string(gitops.AppsApplicationSet)+", for flux "+string(gitops.AppsKustomizations)+" or "+string(gitops.AppsOrdered)+
		"; "+noApps+" removes them")
	flags.StringVar(&f.apps.RepoURL, "repo-url", "", "with --emit-apps: the repository that the tree is in (flux: without it, a GitRepository of that name is there already)")
	flags.StringVar(&f.apps.Revision, "revision", "", "with --repo-url: its branch (argo: or tag or commit; default HEAD, flux: main)")
	flags.StringVar(&f.apps.Path, "repo-path", "", "with --emit-apps: the tree's path in the repository")
	flags.StringVar(&f.apps.Name, "app-name", "", "with --emit-apps: name of the ApplicationSet or GitRepository (default lynqctl; flux without --repo-url: flux-system)")
	flags.StringVar(&f.apps.Namespace, "app-namespace", "", "with --emit-apps: namespace of these objects (default argocd or flux-system)")
}

// check checks the flags; tree tells whether a tree is written, and perNode that
// it has files instead of folders.
func (f *targetFlags) check(cmd *cobra.Command, tree, perNode bool) error {
	target, err := gitops.ParseTarget(f.name)
	if err != nil {
		return badUsage(fmt.Errorf("--%w", err))
	}
	f.target = target
	if f.strict && target == gitops.TargetPlain {
		return badUsage(errors.New("--strict is about what a target honours: choose one with --target=argo or --target=flux"))
	}
	if f.emit == "" || f.emit == noApps {
		for _, name := range []string{"repo-url", "revision", "repo-path", "app-name", "app-namespace"} {
			if cmd.Flags().Changed(name) {
				return badUsage(fmt.Errorf("--%s is about the objects that point a target at the tree: choose some with --emit-apps", name))
			}
		}
	}
	switch {
	case f.emit == "":
		return nil
	case !tree:
		return badUsage(errors.New("--emit-apps is about a tree of files: say where with --output-dir"))
	case f.emit == noApps:
		return nil
	case perNode:
		return badUsage(errors.New("--emit-apps needs a folder per node: leave out --layout=" + layoutFiles))
	}
	if f.apps.Kind, err = gitops.ParseApps(target, f.emit); err == nil {
		err = f.apps.Check()
	}
	if err != nil {
		return badUsage(fmt.Errorf("--emit-apps: %w", err))
	}
	return nil
}

// optionsFor are the options with what the target needs: forms get the annotations
// by which it honours their policies.
func (f *renderCommandFlags) optionsFor(forms []*form.Form, inputs *form.Inputs) (render.Options, error) {
	t := &f.target
	for _, fm := range forms {
		t.losses = append(t.losses, gitops.Annotate(fm, t.target, t.apps.Kind)...)
	}
	o, err := f.options(forms, inputs)
	o.Verbatim = gitops.Verbatim(t.target)
	return o, err
}

// tellLosses says which policies the target does not honour.
func (a *app) tellLosses(f *targetFlags) error {
	if len(f.losses) == 0 {
		return nil
	}
	_, _ = fmt.Fprintf(a.stderr, "%s does not honour all policies:\n", f.target.Title())
	if err := gitops.WriteLosses(a.stderr, f.losses); err != nil {
		return failed(err)
	}
	if f.strict {
		return &exitError{code: exitBadInput, err: errSaid, summary: "--strict: change these policies, or leave out --strict to do without; nothing was written"}
	}
	return nil
}

// appsOf makes the objects that point the target at the tree, nil where nobody
// asked for any.
func (f *targetFlags) appsOf(hubs []hubPrograms, index *gitops.Index) (*gitops.AppMaker, error) {
	if err := f.sameApps(index); err != nil || f.emit == "" {
		return nil, err
	}
	var forms []gitops.AppForm
	for _, h := range hubs {
		for _, p := range h.programs {
			forms = append(forms, gitops.AppForm{Hub: hubKey(h.hub), Form: p.Form})
		}
	}
	m, err := gitops.NewAppMaker(f.apps, forms)
	if err == nil {
		err = m.Covers(index)
	}
	if err != nil {
		return nil, badUsage(fmt.Errorf("--emit-apps=%s: %w", f.emit, err))
	}
	return m, nil
}

// sameApps refuses to leave objects behind that point a target at the tree and
// are not made any more, and to take them away: most of them take what they have
// applied with them.
func (f *targetFlags) sameApps(index *gitops.Index) error {
	there := slices.DeleteFunc(gitops.AppsIn(index), func(k gitops.Apps) bool { return k == f.apps.Kind })
	if len(there) == 0 || f.emit == noApps {
		return nil
	}
	return &exitError{
		code: exitRefused,
		err: fmt.Errorf("the tree has %s: give --emit-apps=%s. To change over or do without, give --emit-apps=%s first; but what they have applied may go with them, see docs/gitops-policies.md",
			there[0], there[0], noApps),
		summary: "nothing was written",
	}
}
