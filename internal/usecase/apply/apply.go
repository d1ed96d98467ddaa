package apply

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// Options say what is applied, and how.
type Options struct {
	load.RenderOptions
	session.RunOptions
	Limits decide.Limits
	// AllSources is --source for all hubs of the inputs, where the run is of some of them and
	// Sources are of these; nil where that says nothing else.
	AllSources []string
	// Yes: a person is not asked before objects are deleted.
	Yes bool
	// AdoptNothing: what exists already and belongs to no node is a conflict.
	AdoptNothing bool
	// IncludeData: patchStrategy recreate also recreates what holds data.
	IncludeData bool
	// Wait: a run waits until objects are ready, as their policies say.
	Wait bool
	// NoGrace: nodes whose rows are gone go at once. It needs named nodes.
	NoGrace bool
	// NoFinalizer: inventories are made without the finalizer.
	NoFinalizer  bool
	RecordValues RecordValues
	Tombstones   TombstoneOptions
	// Resume: rollouts go on that pause between stages. LastStage is the stage that they end
	// with, counted from 1; 0 for all.
	Resume    bool
	LastStage int
}

// Run brings a cluster to what rows and forms say: rows become nodes, nodes and the
// cluster become a plan, and the plan is carried out.
func Run(ctx context.Context, e *session.Engine, o *Options) error {
	loaded := false
	err := WithJob(ctx, e, o, func(ctx context.Context, j *Job) error {
		loaded = true
		return j.Perform(ctx)
	})
	e.Meter().Inputs(loaded)
	return SuggestRights(o, err)
}

// WithJob loads the inputs, connects, and begins a run.
func WithJob(ctx context.Context, e *session.Engine, o *Options, run func(context.Context, *Job) error) error {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	client, warnings, clientErr := e.Connect(&o.Access)
	in, err := Load(ctx, e, o, client, clientErr)
	if err != nil {
		return err
	}
	return run(ctx, &Job{Run: e.NewRun(&o.RunOptions, client, warnings), Options: o, Inputs: in.Inputs, Hubs: in.Hubs, Tombstones: in.Tombstones})
}

// Loaded is all that a run of apply is told by files.
type Loaded struct {
	*load.Inputs
	Tombstones []lynq.Tombstone
}

// Load loads the inputs, asks the cluster what they leave open, and finds out who
// the hubs are. Inputs that are bad are told before a cluster that cannot be reached.
func Load(ctx context.Context, e *session.Engine, o *Options, client *kube.Client, clientErr error) (*Loaded, error) {
	inputs, err := load.PrepareWith(ctx, e, &o.RenderOptions, o.Nothing, func(forms []*form.Form, inputs *form.Inputs) (render.Options, error) {
		options, err := o.Options(forms, inputs)
		if err == nil && clientErr == nil {
			err = askScopes(ctx, client, forms, inputs)
		}
		return options, err
	})
	if err != nil {
		return nil, err
	}
	if err := inputs.CheckStage(o.LastStage, o.Nothing); err != nil {
		return nil, err
	}
	if err := inputs.CheckShard(o.Shard, o.Nothing); err != nil {
		return nil, err
	}
	if clientErr != nil {
		return nil, clientErr
	}
	client.LogBodies(!inputs.HasSecretColumns())
	if err := o.Identify(inputs.Hubs); err != nil {
		return nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: o.Nothing}
	}
	if err := o.RecordValues.check(inputs.Hubs); err != nil {
		return nil, err
	}
	stones, err := form.LoadTombstones(o.Tombstones.Paths)
	if err != nil {
		return nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: o.Nothing}
	}
	return &Loaded{inputs, stones}, nil
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
			if kinds.BuiltIn(group) || inputs.ClusterScoped[key] {
				continue
			}
			found, err := client.Resource(ctx, group, version, kind.kind)
			if err != nil && !meta.IsNoMatchError(err) {
				return session.Untouched(ctx, err)
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

// SuggestRights adds to the error of a run that lacked rights how to see which.
func SuggestRights(o *Options, err error) error {
	var known *session.Error
	if !errors.As(err, &known) || !known.Denied && !session.SaysDenied(err.Error()) {
		return err
	}
	args := []string{"lynqctl", "rbac", "--check"}
	for _, path := range o.Inputs.Paths {
		args = append(args, "-f", path)
	}
	if o.Inputs.Recursive {
		args = append(args, "-R")
	}
	if o.Namespace != "" {
		args = append(args, "-n", o.Namespace)
	}
	if n := o.Shard.Count; n > 0 {
		args = append(args, "--shards", strconv.Itoa(n))
	}
	known.Next = "to list the missing permissions, run " + strings.Join(args, " ")
	return err
}
