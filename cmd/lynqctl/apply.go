package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// applyFlags are the flags of apply.
type applyFlags struct {
	renderFlags
	runFlags
	allowEmpty   bool
	maxDelete    string
	adopt        string
	wait         bool
	noFinalizer  bool
	recordValues bool
}

func defaultApplyFlags() applyFlags {
	return applyFlags{
		renderFlags: renderFlags{format: "yaml", nothing: "nothing was touched", allowVarying: true},
		runFlags:    defaultRunFlags(), maxDelete: apply.DefaultMaxDelete().String(), adopt: adoptByPolicy, wait: true,
	}
}

// What --adopt takes.
const (
	adoptByPolicy = "policy"
	adoptNever    = "never"
)

func (f *applyFlags) registerAdopt(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.adopt, "adopt", f.adopt, "policy (what exists already is adopted or taken over as the forms say) or never (it is a conflict)")
}

func (a *app) applyCommand() *cobra.Command {
	f := defaultApplyFlags()
	cmd := &cobra.Command{
		Use:   "apply -f PATH...",
		Short: "Bring a cluster to what rows and forms say",
		Long: `Render every active row of every hub with every form of the hub, and bring the
cluster to it, under the policies that the forms have.

What each node owns is recorded in a ConfigMap, its inventory, before anything
is made. What did not change since the last run costs no request. One node that
fails does not keep the others from being applied, and loses nothing.

Exit codes: 0 done; 1 something failed, the rest was done; 2 bad input, nothing
was touched; 3 refused by a guard, nothing was touched; 130 interrupted, and the
inventories are correct.`,
		Example: `  # Bring the cluster of the current context to what the rows say
  lynqctl apply -f forms/

  # What would change, without writing anything
  lynqctl apply -f forms/ --dry-run=client

  # One tenant only, and do not wait until it is ready
  lynqctl apply -f forms/ --node acme-web --wait=false

  # In a CI job: events for a log collector, at most 5 nodes may go
  lynqctl apply -f forms/ -o json --max-delete=5`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.apply(cmd.Context(), &f) },
	}
	f.inputFlags.register(cmd)
	f.registerAll(cmd)
	f.registerSources(cmd)
	f.registerRun(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.nodes, "node", nil, "only these nodes: UID-FORM, or the name that status shows")
	flags.StringVarP(&f.selector, "selector", "l", "", "only objects with these labels, as kubectl takes them; nothing goes then")
	flags.BoolVar(&f.allowEmpty, "allow-empty", false, "let all nodes of a hub go that has no active row any more")
	flags.StringVar(&f.maxDelete, "max-delete", f.maxDelete, "refuse when more of a hub's nodes would go: a number, or a share of them")
	f.registerAdopt(cmd)
	flags.BoolVar(&f.wait, "wait", f.wait, "wait until objects are ready, as their policies say")
	flags.BoolVar(&f.noFinalizer, "no-finalizer", false, "make inventories without the finalizer that lets a deletion by hand be cleaned up")
	flags.BoolVar(&f.recordValues, "record-values", false, "record the rows' extra values on inventories, as the operator does; they may hold secrets")
	return cmd
}

// apply is the command: rows become nodes, nodes and the cluster become a plan,
// the plan is carried out.
func (a *app) apply(ctx context.Context, f *applyFlags) error {
	return a.withApplyJob(ctx, f, func(ctx context.Context, j *applyJob) error { return j.perform(ctx) })
}

// withApplyJob loads the inputs, connects, and begins a run of apply.
func (a *app) withApplyJob(ctx context.Context, f *applyFlags, run func(context.Context, *applyJob) error) error {
	settings, limits, err := f.check()
	if err != nil {
		return err
	}
	ctx, cancel := f.deadline(ctx)
	defer cancel()
	client, warnings, clientErr := a.connect(&f.access)
	inputs, hubs, err := f.prepare(ctx, a, func(forms []*form.Form, inputs *form.Inputs) (render.Options, error) {
		o, err := f.options(forms, inputs)
		if err == nil && clientErr == nil {
			err = askScopes(ctx, client, forms, inputs)
		}
		return o, err
	}, f.nothing)
	if err != nil {
		return err
	}
	if clientErr != nil {
		return clientErr
	}
	if err := f.identify(hubs); err != nil {
		return &exitError{code: exitBadInput, err: err, summary: f.nothing}
	}
	return run(ctx, &applyJob{clusterRun: a.newClusterRun(&f.runFlags, client, warnings), flags: f, inputs: inputs, hubs: hubs, settings: settings, limits: limits})
}

// askScopes learns from the cluster which custom kinds have no namespace, where
// the inputs do not have their CustomResourceDefinitions. A kind that is not
// served yet counts as having one. A cluster that does not answer is an error at
// the first question: each is asked with patience.
func askScopes(ctx context.Context, client *kube.Client, forms []*form.Form, inputs *form.Inputs) error {
	for _, f := range forms {
		for _, r := range f.Resources {
			group, version := lynq.SplitAPIVersion(r.APIVersion)
			key := form.GroupKind{Group: group, Kind: r.Kind}
			if lynq.BuiltIn(group) || inputs.ClusterScoped[key] {
				continue
			}
			found, err := client.Resource(ctx, group, version, r.Kind)
			if err != nil && !meta.IsNoMatchError(err) {
				return untouched(ctx, err)
			}
			if err == nil && !found.Namespaced {
				inputs.ClusterScoped[key] = true
			}
		}
	}
	return nil
}

// identify finds out the namespace of each hub. Two are one where one of them has
// no namespace in its file, and that of the run is the other's; so are two forms of
// a hub.
func (f *applyFlags) identify(hubs []hubPrograms) error {
	first := map[lynq.HubKey]*form.Hub{}
	var errs []error
	for i := range hubs {
		h := &hubs[i]
		namespace, err := f.hubNamespace(h.hub)
		if err != nil {
			return err
		}
		h.key = lynq.HubKey{Namespace: namespace, Name: h.hub.Name}
		if other := first[h.key]; other != nil {
			errs = append(errs, fmt.Errorf("%s: without a namespace of its own this is hub %s, which is also at %s (give it metadata.namespace)", h.hub.Pos, h.key, other.Pos))
		}
		first[h.key] = h.hub
		errs = append(errs, distinctForms(h))
	}
	return errors.Join(errs...)
}

func distinctForms(h *hubPrograms) error {
	first := map[lynq.FormKey]*form.Form{}
	var errs []error
	for _, p := range h.programs {
		key := formKey(p.Form, h.key.Namespace)
		if other := first[key]; other != nil {
			errs = append(errs, fmt.Errorf("%s: without a namespace of its own this is form %s, which is also at %s (give it metadata.namespace)", p.Form.Pos, key, other.Pos))
		}
		first[key] = p.Form
	}
	return errors.Join(errs...)
}

// check checks the flags.
func (f *applyFlags) check() (render.Settings, apply.Limits, error) {
	settings, err := f.settings()
	if err != nil {
		return settings, apply.Limits{}, err
	}
	settings.KeepGoing = true
	if err := f.checkRun(); err != nil {
		return settings, apply.Limits{}, err
	}
	if err := oneOf("--adopt", f.adopt, adoptByPolicy, adoptNever); err != nil {
		return settings, apply.Limits{}, err
	}
	limit, err := apply.ParseMaxDelete(f.maxDelete)
	if err != nil {
		return settings, apply.Limits{}, badUsage(fmt.Errorf("--max-delete: %w", err))
	}
	return settings, apply.Limits{AllowEmpty: f.allowEmpty, MaxDelete: limit}, nil
}

// rollouts are those of all forms.
func rollouts(hubs []hubPrograms) map[apply.FormKey]apply.Rollout {
	m := map[apply.FormKey]apply.Rollout{}
	for _, h := range hubs {
		for _, p := range h.programs {
			m[apply.FormKey{Hub: h.key, Form: formKey(p.Form, h.key.Namespace)}] = apply.Rollout{MaxSkew: p.Form.Rollout.MaxSkew, Deadline: p.Form.Rollout.ProgressDeadline}
		}
	}
	return m
}

// hubNamespace is where a hub's own records are.
func (f *applyFlags) hubNamespace(h *form.Hub) (string, error) {
	for _, ns := range []string{h.Namespace, f.namespace} {
		if ns != "" {
			return ns, nil
		}
	}
	ns, err := f.access.Namespace()
	if err != nil || ns != "" {
		return ns, err
	}
	return "default", nil
}
