package rendercmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/gitlog"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/edits"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/apps"
	"github.com/lynqctl/lynqctl/pkg/gitops/hooks"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// Options say which tree of files Run writes.
type Options struct {
	load.RenderOptions
	// Convert converts a node's YAML to another format for standard output. nil keeps YAML.
	Convert func(node []byte) ([]byte, error)
	Dir     string
	Target  policy.Target
	// Emit selects the objects that point the target at the tree. The zero value keeps
	// existing ones, and DropApps removes them.
	Emit     apps.Options
	DropApps bool
	// Strict refuses policies that the target ignores.
	Strict bool
	// Losses gets the policies that the target ignores. It shows those that no earlier run
	// on the tree has shown.
	Losses func(all, untold []policy.Loss) error
	// Planned checks what the flags say of the changes, before the run writes any.
	Planned func(*gitops.Report) error
	// Show shows the changes. Refuse shows why nothing changes, with the tree that the run
	// would have written.
	Show   func(*Tree) error
	Refuse func(*Tree) error

	gitops.Arrangement
	Limits decide.Limits
	// FailOn are findings for which the run refuses.
	FailOn []changeset.Code
	// LastStage is the stage after which rollouts end, counted from 1. Nodes of later
	// stages keep their files. 0 means all stages.
	LastStage int
	// NoGrace removes the files of nodes at once when their rows are gone. It needs named
	// nodes.
	NoGrace bool
	// Force overwrites and removes files even if others wrote or changed them.
	Force bool
	// DryRun writes nothing.
	DryRun bool
	// Hooks, if not nil, makes Argo CD delete the objects that tombstones name. It supports
	// only known kinds.
	Hooks *hooks.Tombstones
	// PlainSecrets allows Secrets to show their values.
	PlainSecrets bool
	// TellChanged returns the outcome Changed if the tree changed.
	TellChanged bool
}

// options returns the render options. A tree never takes its namespace from a kubeconfig,
// because another context would then replace every node.
func (o *Options) options(forms []*form.Form, inputs *form.Inputs) (render.Options, error) {
	if o.Dir != "" {
		return render.Options{Namespace: o.Namespace, AllowVarying: !o.RefuseVarying}, nil
	}
	return o.Options(forms, inputs)
}

// Tree is the result of a run that wrote a tree.
type Tree struct {
	Report  *gitops.Report
	version string
	hubs    []load.HubPrograms
	run     *load.HubsRun
}

// Program implements gitops.ProgramOf.
func (t *Tree) Program(hub lynq.HubKey, form lynq.FormKey) *render.Program {
	for _, h := range t.hubs {
		for _, p := range h.Programs {
			if h.Hub.Key() == hub && p.Form.Key() == form {
				return p
			}
		}
	}
	return nil
}

// prepareFor works like Prepare, for a target. It adds annotations to forms that make the
// target honour their policies.
func prepareFor(ctx context.Context, e *session.Engine, o *Options) (*load.Inputs, error) {
	var losses []policy.Loss
	ofCharts := &policy.Losses{}
	inputs, err := load.PrepareWith(ctx, e, &o.RenderOptions, "nothing was rendered", func(forms []*form.Form, inputs *form.Inputs) (render.Options, error) {
		for _, f := range forms {
			losses = append(losses, policy.Annotate(f, o.Target, o.Emit.Kind)...)
		}
		options, err := o.options(forms, inputs)
		options.Annotate = func(f *form.Form) { ofCharts.AddCharts(f, policy.Annotate(f, o.Target, o.Emit.Kind)) }
		options.Verbatim, options.Kustomize = policy.Verbatim(o.Target), o.Dir != ""
		return options, err
	})
	if err != nil {
		return inputs, err
	}
	inputs.ChartLosses = ofCharts
	if err := inputs.CheckStage(o.LastStage, false, "nothing was rendered"); err != nil {
		return nil, err
	}
	if o.Target == policy.Plain {
		tellHooks(e, inputs)
	}
	if o.Hooks == nil {
		tellTombstones(e, inputs.Hubs, o)
	}
	if len(losses) == 0 {
		return inputs, nil
	}
	inputs.Losses = losses
	if o.Dir != "" && !o.Strict {
		return inputs, nil // the tree remembers the shown losses
	}
	return inputs, o.tellLosses(losses)
}

// tellLosses shows losses. With --strict, they are an error.
func (o *Options) tellLosses(losses []policy.Loss) error {
	if len(losses) == 0 {
		return nil
	}
	if err := o.Losses(losses, losses); err != nil {
		return session.Fail(err)
	}
	if o.Strict {
		return &session.Error{Outcome: session.BadInput, Err: session.ErrReported, Summary: "--strict: change these policies, or remove --strict to accept the loss; nothing was written"}
	}
	return nil
}

// tellTombstones notes forms whose tombstones this run ignores.
func tellTombstones(e *session.Engine, hubs []load.HubPrograms, o *Options) {
	other := ""
	if o.Target == policy.Argo && o.Dir != "" {
		other = " (--tombstone-hooks has Argo CD delete what they name)"
	}
	for _, p := range load.AllPrograms(hubs) {
		if n := len(p.Form.Tombstones); n > 0 {
			e.Notef("form %q: no effect here of %s: apply deletes what they name, and Argo CD and Flux prune what a tree no longer has%s", p.Form.Name, phrase.Count(n, "tombstone"), other)
		}
	}
}

// tellGrace warns of forms with a grace period, because manifests alone don't record when a
// row disappeared.
func tellGrace(e *session.Engine, inputs *load.Inputs) {
	for _, h := range inputs.Hubs {
		for _, p := range h.Programs {
			if grace := p.Form.GraceIn(h.Hub); grace > 0 {
				e.Notef("warning: %s: form %q has deletionGracePeriod %s, which counts with --output-dir alone: whoever applies these manifests and prunes deletes a node as soon as its row is gone", p.Form.Pos, p.Form.Name, grace)
			}
		}
	}
}

// tellHooks warns of hooks, which render leaves out. Whoever applies the manifests would
// run them at once.
func tellHooks(e *session.Engine, inputs *load.Inputs) {
	for _, p := range load.AllPrograms(inputs.Hubs) {
		for _, r := range p.Form.Hooks() {
			e.Notef("warning: %s: form %q, resource %q has runOn: Delete and is left out: whatever applies the manifests would run it at once (lynqctl apply runs it when its node goes)", r.Pos, p.Form.Name, r.ID)
		}
		for _, c := range p.Form.Charts {
			if c.Opened.DeletionHooks {
				e.Notef("warning: %s: form %q, chart %q: hooks pre-delete are left out: whatever applies the manifests would run them at once (lynqctl apply runs them when their node goes)", c.Pos, p.Form.Name, c.ID)
			}
		}
	}
}

// treeJob is one run that writes a tree.
type treeJob struct {
	*session.Engine
	o     *Options
	hubs  []load.HubPrograms
	tree  *gitops.Dir
	input *gitops.Input
	run   *load.HubsRun
}

// writeTree renders into a tree of files.
func writeTree(ctx context.Context, e *session.Engine, o *Options, inputs *load.Inputs) error {
	j := &treeJob{Engine: e, o: o, hubs: inputs.Hubs}
	tree, err := gitops.OpenDir(o.Dir)
	if err != nil {
		return j.untouched(fmt.Errorf("--output-dir: %w", err))
	}
	defer func() { _ = tree.Close() }() // the run has written everything
	j.tree = tree
	index, err := tree.Index()
	if err != nil {
		return j.untouched(err)
	}
	emitted, err := o.appsOf(j.hubs, index)
	if err != nil {
		return err
	}
	rendered := &treeNodes{renames: map[lynq.HubKey]*lynq.Renames{}, named: len(o.Settings.Nodes) > 0}
	stdin := &load.Replayed{}
	reading := *e
	reading.Stdin = stdin.Reader(e.Stdin)
	if j.run, err = load.RenderRows(ctx, &reading, &o.RenderOptions, o.Settings, inputs, rendered.render(ctx)); err != nil {
		return o.Ended(j.run.Run, err)
	}
	rendered.retract(j.run.Retracted())
	if o.LastStage > 0 && len(o.Settings.Nodes) == 0 { // a named node has no stage
		rendered.wait(inputs.Hubs, o.LastStage)
	}
	if j.run.Err() != nil && !o.KeepGoing {
		return o.Ended(j.run.Run, nil)
	}
	told, err := o.tell(inputs, index)
	if err != nil {
		return err
	}
	j.input = &gitops.Input{
		Arrangement: o.Arrangement, Scope: scopeOf(j.hubs, o.Settings, rendered.nodes, o.NoGrace), Target: o.Target,
		Nodes: rendered.nodes, Index: index, Apps: emitted, DropApps: o.DropApps, Told: told,
		Version: j.Version, Rows: j.rows(rendered), Limits: o.Limits, Now: j.Now(), Elsewhere: j.elsewhere(ctx, inputs, stdin), Force: o.Force,
	}
	j.input.Forms, j.input.Templates = formsOf(j.hubs)
	rendered.suspend(j.input)
	if err := j.plainValues(rendered.nodes); err != nil {
		return err
	}
	if err := j.addHooks(inputs, rendered); err != nil {
		return err
	}
	if err := j.tree.Decide(ctx, j.input); err != nil {
		return j.undecided(err)
	}
	if err := j.unknownNodes(); err != nil {
		return err
	}
	if err := o.Hooks.Check(j.input, rendered.tombstones); err != nil {
		return &session.Error{Outcome: session.BadInput, Err: err, Summary: o.Nothing}
	}
	if err := j.retain(ctx); err != nil {
		return j.untouched(err)
	}
	return j.carryOut(ctx)
}

// retain keeps the tree's files of excluded objects.
func (j *treeJob) retain(ctx context.Context) error {
	kept, err := j.tree.Retain(ctx, j.input, j.o.Target)
	pruned := ", and are not pruned"
	if j.o.Target == policy.Plain {
		pruned = "" // whoever applies the tree decides
	}
	if n := kept.Objects - kept.Unprotected; n > 0 {
		j.Notef("warning: in the tree stay as before%s: %s", pruned, phrase.Count(n, "excluded object"))
	}
	if kept.Unprotected > 0 {
		j.Notef("warning: Flux deletes %s with creationPolicy: Once when the tree drops them, because it never applies their annotations again (annotate them in the cluster: kustomize.toolkit.fluxcd.io/prune=disabled)",
			phrase.Count(kept.Unprotected, "excluded object"))
	}
	return err
}

// tell shows losses that are new to a tree, and returns the losses that the tree remembers.
func (o *Options) tell(inputs *load.Inputs, index *index.Index) ([]string, error) {
	var forms []string
	for _, p := range load.AllPrograms(inputs.Hubs) {
		forms = append(forms, p.Form.Name)
	}
	if ofCharts := inputs.ChartLosses.All(); o.Strict {
		if err := o.tellLosses(ofCharts); err != nil {
			return nil, err
		}
	} else {
		inputs.Losses = append(inputs.Losses, ofCharts...)
	}
	untold, told := index.Untold(o.Target, forms, inputs.Losses)
	if len(inputs.Losses) == 0 {
		return told, nil
	}
	if err := o.Losses(inputs.Losses, untold); err != nil {
		return nil, session.Fail(err)
	}
	return told, nil
}

// carryOut plans the tree, and writes it.
func (j *treeJob) carryOut(ctx context.Context) error {
	plan, err := j.tree.Plan(ctx, j.input, j.o.Force)
	if err != nil {
		return j.undecided(err)
	}
	changed := j.tree.Changes(plan)
	report := gitops.NewReport(j.input, plan, changed)
	report.Explain(j.result(report).Program, j.edits(ctx))
	if err := j.o.Planned(report); err != nil {
		return j.untouched(err)
	}
	if report.Refusals = append(gitops.Refuse(j.input, plan), report.RefuseFindings(j.o.FailOn)...); len(report.Refusals) > 0 {
		if err := j.o.Refuse(j.result(report)); err != nil {
			return session.Fail(fmt.Errorf("write the report: %w", err))
		}
		return &session.Error{Outcome: session.Refused, Err: session.ErrReported, Summary: j.o.Nothing}
	}
	if !j.o.DryRun {
		if err := j.tree.Write(ctx, plan); err != nil {
			return j.broken(ctx, err)
		}
	}
	j.tellDefault()
	if err := j.o.Show(j.result(report)); err != nil {
		return session.Fail(fmt.Errorf("write the report: %w", err))
	}
	return j.ended(report)
}

// edits returns a function that finds how forms changed since the tree recorded them.
func (j *treeJob) edits(ctx context.Context) gitops.EditOf {
	log := gitlog.New(time.Now)
	f := &edits.Finder{
		Versions: func(file string) []edits.Version { return log.Versions(ctx, file) },
		Prepare:  func(f *form.Form) { policy.Annotate(f, j.o.Target, j.o.Emit.Kind) },
		Hide:     j.Secrets.Hide,
	}
	return func(p *render.Program, id string, since *index.Template) *changeset.Edit {
		return f.Find(p, id, since.Digest, func(version *render.Program) bool { return version.MadeParts(string(since.Parts), id) })
	}
}

// tellDefault notes forms that bring their first nodes into a tree without naming a
// namespace. Whoever applies the tree would find them in "default".
func (j *treeJob) tellDefault() {
	var forms []string
	for _, h := range j.hubs {
		for _, p := range h.Programs {
			known := slices.ContainsFunc(j.input.Index.Entries, func(e index.Entry) bool { return e.Hub == h.Hub.Key() && e.Form == p.Form.Key() })
			if !known && j.o.Namespace == "" && p.Form.Namespace == "" && h.Hub.Namespace == "" {
				forms = append(forms, fmt.Sprintf("%q", p.Form.Name))
			}
		}
	}
	if len(forms) > 0 {
		j.Notef("nodes go to namespace default (form %s): neither -n, the form nor its hub names a namespace", phrase.Some(forms))
	}
}

func (j *treeJob) result(r *gitops.Report) *Tree {
	return &Tree{Report: r, version: j.Version, hubs: j.hubs, run: j.run}
}

// unknownNodes refuses names given with --node that neither rows nor the tree contain.
func (j *treeJob) unknownNodes() error {
	missing := slices.DeleteFunc(j.run.Missing(), func(n string) bool {
		only := askedNodes(map[string]bool{n: true}, j.hubs, nil)
		return slices.ContainsFunc(j.input.Index.Entries, func(e index.Entry) bool { return only[e.Node.Name] })
	})
	if len(missing) == 0 {
		return nil
	}
	return load.UnknownNodesOf(j.run.Run, missing)
}

// ended turns the report of a finished run into its result.
func (j *treeJob) ended(r *gitops.Report) error {
	switch {
	case j.run.Err() != nil:
		return j.o.Ended(j.run.Run, nil)
	case len(r.Conflicts) > 0:
		return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: phrase.Count(len(r.Conflicts), "file") + " left because others changed them; take the changes into the form, or overwrite them with --force"}
	case r.Changed && j.o.TellChanged:
		return &session.Error{Outcome: session.Changed, Err: session.ErrReported}
	}
	return nil
}

// undecided returns the error of a run that couldn't read the tree.
func (j *treeJob) undecided(err error) error {
	if busy, ok := errors.AsType[*gitops.BusyError](err); ok {
		return j.busy(busy)
	}
	return j.untouched(err)
}

// untouched returns the error of a run that wrote nothing.
func (j *treeJob) untouched(err error) error {
	return &session.Error{Outcome: session.BadInput, Err: err, Summary: j.o.Nothing}
}

// busy returns the error for a tree that another run holds.
func (j *treeJob) busy(err *gitops.BusyError) error {
	return &session.Error{Outcome: session.Refused, Err: err, Summary: j.o.Nothing}
}

// broken returns the error of a run that failed while it wrote the tree.
func (j *treeJob) broken(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return context.Canceled
	}
	var root *gitops.RootError
	if errors.As(err, &root) {
		return j.untouched(fmt.Errorf("--output-dir: %w", root))
	}
	if busy, ok := errors.AsType[*gitops.BusyError](err); ok {
		return j.busy(busy)
	}
	return &session.Error{Outcome: session.Failed, Err: fmt.Errorf("write the tree: %w", err), Summary: "it may be incomplete; run the same command again to continue"}
}

// plainValues refuses nodes whose objects would show values of Secrets in the tree.
func (j *treeJob) plainValues(nodes []*gitops.Node) error {
	if j.o.PlainSecrets {
		return nil
	}
	var found lynq.Problems
	for _, s := range gitops.PlainSecrets(nodes) {
		found.Add(j.positionOf(&s), "", "form %q, resource %q: all who read the tree would see values of a Secret (%s, first %s)",
			s.Form.Name, s.ID, phrase.Count(s.Nodes, "node"), s.Name)
	}
	if len(found) == 0 {
		return nil
	}
	return &session.Error{Outcome: session.Refused, Err: found.Sorted(), Summary: strings.Join([]string{
		"lynqctl does not write values of Secrets into a tree. Choose one:",
		"- render an ExternalSecret (external-secrets.io) or a SealedSecret (bitnami.com) under manifests instead",
		"- render to standard output, and send that through sops",
		"- pass --plain-secrets to write them",
		j.o.Nothing,
	}, "\n")}
}

// positionOf returns the place of a form's resource in its file.
func (j *treeJob) positionOf(s *gitops.PlainSecret) lynq.Pos {
	for _, h := range j.hubs {
		for _, p := range h.Programs {
			if h.Hub.Key() != s.Hub || p.Form.Key() != s.Form {
				continue
			}
			if r := p.Form.Resource(s.ID); r != nil {
				return r.Pos
			}
		}
	}
	return lynq.Pos{}
}

// noApps is the value of --emit-apps that removes the objects of an earlier run.
const noApps = "none"

// appsOf returns the objects that point the target at the tree, or nil if the user asked
// for none.
func (o *Options) appsOf(hubs []load.HubPrograms, index *index.Index) (gitops.Apps, error) {
	if err := o.sameApps(index); err != nil || o.Emit.Kind == "" {
		return nil, err
	}
	var forms []apps.Form
	for _, h := range hubs {
		for _, p := range h.Programs {
			forms = append(forms, apps.Form{Hub: h.Hub.Key(), Form: p.Form})
		}
	}
	m, err := apps.New(o.Emit, forms)
	if err == nil {
		err = m.Covers(index)
	}
	if err != nil {
		return nil, session.BadUsage(fmt.Errorf("--emit-apps=%s: %w", o.Emit.Kind, err))
	}
	return m, nil
}

// sameApps refuses to drop or replace objects that point a target at the tree. If the user
// removed them, most would also remove what they applied.
func (o *Options) sameApps(index *index.Index) error {
	there := slices.DeleteFunc(apps.In(index), func(k policy.Apps) bool { return k == o.Emit.Kind })
	if len(there) == 0 || o.DropApps {
		return nil
	}
	return &session.Error{Outcome: session.Refused,
		Err: fmt.Errorf("the tree has %s: give --emit-apps=%s. To change over or do without, give --emit-apps=%s first; but Argo CD or Flux may delete what they applied with them, see docs/gitops-policies.md",
			there[0], there[0], noApps),
		Summary: "nothing was written",
	}
}
