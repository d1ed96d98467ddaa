package engine

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// ApplyOptions say what is applied, and how.
type ApplyOptions struct {
	RenderOptions
	RunOptions
	Limits plan.Limits
	// Yes: a person is not asked before objects are deleted.
	Yes bool
	// AdoptNothing: what exists already and belongs to no node is a conflict.
	AdoptNothing bool
	// IncludeData: patchStrategy recreate also recreates what holds data.
	IncludeData bool
	// Wait: a run waits until objects are ready, as their policies say.
	Wait bool
	// NoFinalizer: inventories are made without the finalizer.
	NoFinalizer  bool
	RecordValues RecordValues
	Tombstones   TombstoneOptions
}

// Apply brings a cluster to what rows and forms say: rows become nodes, nodes and the
// cluster become a plan, and the plan is carried out.
func (e *Engine) Apply(ctx context.Context, o *ApplyOptions) error {
	loaded := false
	err := e.withApplyJob(ctx, o, func(ctx context.Context, j *applyJob) error {
		loaded = true
		return j.perform(ctx)
	})
	e.metrics().Inputs(loaded)
	return suggestRights(o, err)
}

// withApplyJob loads the inputs, connects, and begins a run.
func (e *Engine) withApplyJob(ctx context.Context, o *ApplyOptions, run func(context.Context, *applyJob) error) error {
	ctx, cancel := Deadline(ctx, o.Timeout)
	defer cancel()
	client, warnings, clientErr := e.connect(&o.Access)
	in, err := e.loadApply(ctx, o, client, clientErr)
	if err != nil {
		return err
	}
	return run(ctx, &applyJob{clusterRun: e.newClusterRun(&o.RunOptions, client, warnings), o: o, inputs: in.Inputs, hubs: in.Hubs, tombstones: in.tombstones})
}

// applyInputs is all that a run of apply is told by files.
type applyInputs struct {
	*Inputs
	tombstones []lynq.Tombstone
}

// loadApply loads the inputs, asks the cluster what they leave open, and finds out who
// the hubs are. Inputs that are bad are told before a cluster that cannot be reached.
func (e *Engine) loadApply(ctx context.Context, o *ApplyOptions, client *kube.Client, clientErr error) (*applyInputs, error) {
	inputs, err := e.prepareWith(ctx, &o.RenderOptions, o.Nothing, func(forms []*form.Form, inputs *form.Inputs) (render.Options, error) {
		options, err := o.options(forms, inputs)
		if err == nil && clientErr == nil {
			err = askScopes(ctx, client, forms, inputs)
		}
		return options, err
	})
	if err != nil {
		return nil, err
	}
	if clientErr != nil {
		return nil, clientErr
	}
	if err := o.identify(inputs.Hubs); err != nil {
		return nil, &Error{Outcome: BadInput, Err: err, Summary: o.Nothing}
	}
	if err := o.RecordValues.check(inputs.Hubs); err != nil {
		return nil, err
	}
	stones, err := form.LoadTombstones(o.Tombstones.Paths)
	if err != nil {
		return nil, &Error{Outcome: BadInput, Err: err, Summary: o.Nothing}
	}
	return &applyInputs{inputs, stones}, nil
}

// askScopes learns from the cluster which custom kinds have no namespace, where
// the inputs do not have their CustomResourceDefinitions. A kind that is not
// served yet counts as having one. A cluster that does not answer is an error at
// the first question: each is asked with patience.
func askScopes(ctx context.Context, client *kube.Client, forms []*form.Form, inputs *form.Inputs) error {
	for _, f := range forms {
		for _, kind := range kindsOf(f) {
			group, version := lynq.SplitAPIVersion(kind.apiVersion)
			key := form.GroupKind{Group: group, Kind: kind.kind}
			if lynq.BuiltIn(group) || inputs.ClusterScoped[key] {
				continue
			}
			found, err := client.Resource(ctx, group, version, kind.kind)
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

// apiKind is a kind as a form writes it.
type apiKind struct{ apiVersion, kind string }

// kindsOf are the kinds of a form's resources and tombstones.
func kindsOf(f *form.Form) []apiKind {
	var kinds []apiKind
	for _, r := range f.Resources {
		kinds = append(kinds, apiKind{r.APIVersion, r.Kind})
	}
	for _, t := range f.Tombstones {
		kinds = append(kinds, apiKind{t.APIVersion, t.Kind})
	}
	return kinds
}

// identify finds out the namespace of each hub. Two are one where one of them has
// no namespace in its file, and that of the run is the other's; so are two forms of
// a hub.
func (f *RenderOptions) identify(hubs []HubPrograms) error {
	first := map[lynq.HubKey]*form.Hub{}
	var errs []error
	for i := range hubs {
		h := &hubs[i]
		namespace, err := f.hubNamespace(h.Hub)
		if err != nil {
			return err
		}
		h.Key = lynq.HubKey{Namespace: namespace, Name: h.Hub.Name}
		if other := first[h.Key]; other != nil {
			errs = append(errs, fmt.Errorf("%s: without a namespace of its own this is hub %s, which is also at %s (give it metadata.namespace)", h.Hub.Pos, h.Key, other.Pos))
		}
		first[h.Key] = h.Hub
		errs = append(errs, distinctForms(h))
	}
	return errors.Join(errs...)
}

func distinctForms(h *HubPrograms) error {
	first := map[lynq.FormKey]*form.Form{}
	var errs []error
	for _, p := range h.Programs {
		key := formKey(p.Form, h.Key.Namespace)
		if other := first[key]; other != nil {
			errs = append(errs, fmt.Errorf("%s: without a namespace of its own this is form %s, which is also at %s (give it metadata.namespace)", p.Form.Pos, key, other.Pos))
		}
		first[key] = p.Form
	}
	return errors.Join(errs...)
}

// rollouts are those of all forms.
func rollouts(hubs []HubPrograms) map[apply.FormKey]apply.Rollout {
	m := map[apply.FormKey]apply.Rollout{}
	for _, h := range hubs {
		for _, p := range h.Programs {
			m[apply.FormKey{Hub: h.Key, Form: formKey(p.Form, h.Key.Namespace)}] = apply.Rollout{MaxSkew: p.Form.Rollout.MaxSkew, Deadline: p.Form.Rollout.ProgressDeadline, Continue: p.Form.Rollout.OnFailure == form.ContinueOnFailure}
		}
	}
	return m
}

// hubNamespace is where a hub's own records are.
func (f *RenderOptions) hubNamespace(h *form.Hub) (string, error) {
	for _, ns := range []string{h.Namespace, f.Namespace} {
		if ns != "" {
			return ns, nil
		}
	}
	ns, err := f.Access.Namespace()
	if err != nil || ns != "" {
		return ns, err
	}
	return "default", nil
}
