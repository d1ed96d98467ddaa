package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// The layouts of a tree.
const (
	layoutFolders = "node-folder"
	layoutFiles   = "node-file"
)

// dirFlags are the flags of render that are about a tree of files.
type dirFlags struct {
	dir          string
	layout       string
	shard        bool
	force        bool
	dryRun       bool
	allowEmpty   bool
	maxDelete    string
	plainSecrets bool
	exitCode     bool

	report string // how changes are told
	limits gitops.Limits
}

func defaultDirFlags() dirFlags {
	return dirFlags{layout: layoutFolders, maxDelete: apply.DefaultMaxDelete().String()}
}

func (f *dirFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "output-dir", "", "write a tree of files into this folder, and leave alone what else is in it")
	flags.StringVar(&f.layout, "layout", f.layout, "of the tree: "+layoutFolders+" (a file per object) or "+layoutFiles+" (a file per node)")
	flags.BoolVar(&f.shard, "shard", false, "spread nodes over 256 folders, for many thousands of them")
	flags.BoolVar(&f.force, "force", false, "overwrite and remove files though others wrote or changed them")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would change in the tree, and write nothing")
	flags.BoolVar(&f.allowEmpty, "allow-empty", false, "let all nodes of a hub go that has no active row any more")
	flags.StringVar(&f.maxDelete, "max-delete", f.maxDelete, "refuse when more of a hub's nodes would go: a number, or a share of them")
	flags.BoolVar(&f.plainSecrets, "plain-secrets", false, "write Secrets with their values, for all who can read the tree")
	flags.BoolVar(&f.exitCode, "exit-code", false, "exit with 4 when the tree changes")
}

// dirOnly are the flags that mean nothing without a tree.
func dirOnly() []string {
	return []string{"layout", "shard", "force", "dry-run", "allow-empty", "max-delete", "plain-secrets", "exit-code"}
}

// check checks the flags of a run that writes a tree.
func (f *dirFlags) check(r *renderFlags) error {
	if err := oneOf("--layout", f.layout, layoutFolders, layoutFiles); err != nil {
		return err
	}
	limit, err := apply.ParseMaxDelete(f.maxDelete)
	switch {
	case err != nil:
		return badUsage(fmt.Errorf("--max-delete: %w", err))
	case r.stream:
		return badUsage(errors.New("--stream and --output-dir do not go together: a tree is written when everything has rendered"))
	case r.selector != "" && f.layout == layoutFiles:
		return badUsage(errors.New("-l leaves out a part of nodes, and --layout=" + layoutFiles + " writes whole ones (use --node or --form)"))
	}
	f.limits = gitops.Limits{AllowEmpty: f.allowEmpty, MayGo: limit.Of, MaxDelete: limit.String()}
	return nil
}

// dirJob is one run that writes a tree.
type dirJob struct {
	*app
	flags *renderCommandFlags
	hubs  []hubPrograms
	tree  *gitops.Dir
	input *gitops.Input
	run   *hubsRun
}

// renderDir renders into a tree of files.
func (a *app) renderDir(ctx context.Context, f *renderCommandFlags, settings render.Settings, inputs *form.Inputs, hubs []hubPrograms) error {
	j := &dirJob{app: a, flags: f, hubs: hubs}
	if err := f.plainValues(hubs); err != nil {
		return err
	}
	tree, err := gitops.OpenDir(f.dir.dir)
	if err != nil {
		return j.untouched(fmt.Errorf("--output-dir: %w", err))
	}
	defer func() { _ = tree.Close() }() // everything has been written by then
	j.tree = tree
	index, err := tree.Index()
	if err != nil {
		return j.untouched(err)
	}
	apps, err := f.target.appsOf(hubs, index)
	if err != nil {
		return err
	}
	settings.Recorded = writtenNames(index)
	sink := &treeSink{}
	if j.run, err = a.renderRows(ctx, &f.renderFlags, settings, inputs, hubs, sink); err != nil {
		return f.ended(j.run.Run, err)
	}
	if j.run.Err() != nil && !f.keepGoing {
		return f.ended(j.run.Run, nil)
	}
	j.input = &gitops.Input{
		Arrangement: gitops.Arrangement{PerNode: f.dir.layout == layoutFiles, Sharded: f.dir.shard},
		Scope:       scopeOf(hubs, settings, sink.nodes),
		Nodes:       sink.nodes, Index: index, Apps: apps, DropApps: f.target.emit == noApps,
	}
	if err := j.unknownNodes(); err != nil {
		return err
	}
	return j.carryOut(ctx)
}

// carryOut plans the tree, and writes it.
func (j *dirJob) carryOut(ctx context.Context) error {
	plan, err := j.tree.Plan(ctx, j.input, j.flags.dir.force)
	if err != nil {
		return j.untouched(err)
	}
	if refusals := gitops.Refuse(j.input, plan, j.active(), j.flags.dir.limits); len(refusals) > 0 {
		return j.refuse(refusals)
	}
	changed := j.tree.Changes(plan)
	if !j.flags.dir.dryRun {
		if err := j.tree.Write(ctx, plan); err != nil {
			return j.broken(ctx, err)
		}
	}
	report := gitops.NewReport(j.input, plan, changed)
	if err := j.show(report); err != nil {
		return err
	}
	return j.ended(report)
}

// active is the number of active rows of each hub.
func (j *dirJob) active() map[gitops.HubKey]int {
	active := map[gitops.HubKey]int{}
	for _, h := range j.hubs {
		active[hubKey(h.hub)] = j.run.hubs[h.key].Active
	}
	return active
}

// unknownNodes refuses names given with --node that neither rows nor the tree
// have.
func (j *dirJob) unknownNodes() error {
	missing := slices.DeleteFunc(j.run.Missing(), func(n string) bool {
		only := treeNodes(map[string]bool{n: true}, j.hubs, nil)
		return slices.ContainsFunc(j.input.Index.Entries, func(e gitops.Entry) bool { return only[e.Node.Name] })
	})
	if len(missing) == 0 {
		return nil
	}
	return unknownNodes(missing, j.run.Forms())
}

// ended is how a run ended that came to its end.
func (j *dirJob) ended(r *gitops.Report) error {
	switch {
	case j.run.Err() != nil:
		return j.flags.ended(j.run.Run, nil)
	case len(r.Conflicts) > 0:
		return &exitError{code: exitFailed, err: errSaid, summary: count(len(r.Conflicts), "file") + " left because others changed them; take the changes into the form, or overwrite them with --force"}
	case r.Changed && j.flags.dir.exitCode:
		return &exitError{code: exitChanged, err: errSaid}
	}
	return nil
}

// untouched is an error before anything was written.
func (j *dirJob) untouched(err error) error {
	return &exitError{code: exitBadInput, err: err, summary: j.flags.nothing}
}

// broken is an error while the tree was written.
func (j *dirJob) broken(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return context.Canceled
	}
	var root *gitops.RootError
	if errors.As(err, &root) {
		return j.untouched(fmt.Errorf("--output-dir: %w", root))
	}
	return &exitError{code: exitFailed, err: fmt.Errorf("write the tree: %w", err), summary: "a part of it may have been written; the next run goes on from there"}
}

// plainValues refuses Secrets that would show their values in the tree.
func (f *renderCommandFlags) plainValues(hubs []hubPrograms) error {
	if f.dir.plainSecrets {
		return nil
	}
	var found lynq.Problems
	for _, h := range hubs {
		for _, p := range h.programs {
			for _, r := range p.Form.Resources {
				if gitops.PlainSecret(r) {
					found.Add(r.Pos, "", "form %q, resource %q: a Secret with its values does not belong into a tree that others read", p.Form.Name, r.ID)
				}
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &exitError{code: exitRefused, err: found.Sorted(), summary: strings.Join([]string{
		"Secrets with their values are not written; there are these ways out:",
		"- render an ExternalSecret (external-secrets.io) or a SealedSecret (bitnami.com) under manifests instead",
		"- render to standard output, and send that through sops",
		"- write them all the same, with --plain-secrets",
		f.nothing,
	}, "\n")}
}
