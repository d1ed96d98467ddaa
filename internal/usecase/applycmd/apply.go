package applycmd

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
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/pkg/render/buffer"
)

// Options say what Run applies, and how.
type Options struct {
	load.RenderOptions
	session.RunOptions
	Limits decide.Limits
	// AllSources is --source for all hubs of the inputs. It is set if the run has only some
	// of the hubs, and Sources belong to those. nil means the same as Sources.
	AllSources []string
	// Yes deletes objects without asking.
	Yes bool
	// AdoptNothing makes a conflict of every existing object that belongs to no node.
	AdoptNothing bool
	// IncludeData lets patchStrategy recreate also recreate objects that hold data.
	IncludeData bool
	// Wait makes a run wait until objects are ready, as their policies say.
	Wait bool
	// NoGrace deletes nodes at once when their rows are gone. It needs named nodes.
	NoGrace bool
	// NoFinalizer creates inventories without the finalizer.
	NoFinalizer  bool
	RecordValues RecordValues
	Tombstones   TombstoneOptions
	// Review, if not nil, returns further refusals of plans that no guard refuses. It may
	// change the plans that it gets, so it gets copies.
	Review func(context.Context, *Planned) ([]plan.Refusal, error)
	// Explain, if not nil, notes causes in plans that a person reads before anything is
	// written. It sends no request.
	Explain func(context.Context, *Planned) error
	// Resume continues rollouts that pause between stages. LastStage is the stage after
	// which they end, counted from 1. With 0, they carry out all stages.
	Resume    bool
	LastStage int
}

// Run applies: rows become nodes, nodes and the cluster become a plan, and Run carries out
// the plan. It returns a *session.Error if the run failed or a guard refused it.
func Run(ctx context.Context, e *session.Engine, o *Options) error {
	loaded := false
	err := WithJob(ctx, e, o, func(ctx context.Context, j *Job) error {
		loaded = true
		return j.Perform(ctx)
	})
	e.Meter().Inputs(loaded)
	return SuggestRights(o, err)
}

// WithJob loads the inputs, connects, and calls run with a new Job.
func WithJob(ctx context.Context, e *session.Engine, o *Options, run func(context.Context, *Job) error) error {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	client, warnings, clientErr := e.Connect(&o.Access)
	in, err := Load(ctx, e, o, client, clientErr)
	if err != nil {
		return err
	}
	return run(ctx, &Job{Run: e.NewRun(&o.RunOptions, client, warnings), Options: o, Inputs: in.Inputs, Hubs: in.Hubs, Tombstones: in.Tombstones, Pages: new(buffer.Pages)})
}

// Loaded holds the files of a run of apply.
type Loaded struct {
	*load.Inputs
	Tombstones []lynq.Tombstone
}

// Load loads the inputs, asks the cluster for kinds that they leave open, and finds the
// keys of the hubs. It reports bad inputs before an unreachable cluster.
func Load(ctx context.Context, e *session.Engine, o *Options, client *kube.Client, clientErr error) (*Loaded, error) {
	rendering := o.RenderOptions
	if ask := &rendering.Inputs.Capabilities.Ask; clientErr == nil && *ask == nil {
		*ask = func(ctx context.Context) (string, []string, error) { return client.Capabilities(ctx, false) }
	}
	inputs, err := load.PrepareWith(ctx, e, &rendering, o.Nothing, func(forms []*form.Form, inputs *form.Inputs) (render.Options, error) {
		options, err := o.ClusterOptions(forms, inputs)
		if err == nil && clientErr == nil {
			err = askScopes(ctx, client, forms, inputs)
		}
		return options, err
	})
	if err != nil {
		return nil, err
	}
	if err := inputs.CheckStage(o.LastStage, o.Resume, o.Nothing); err != nil {
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
	load.HideObjects(e, inputs.Hubs)
	if err := o.RecordValues.check(inputs.Hubs); err != nil {
		return nil, err
	}
	stones, err := form.LoadTombstones(o.Tombstones.Paths)
	if err != nil {
		return nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: o.Nothing}
	}
	in := &Loaded{inputs, stones}
	return in, o.keepsTo(in)
}

// askScopes asks the cluster which custom kinds have no namespace, if the inputs don't
// contain their CustomResourceDefinitions. An unserved kind counts as namespaced. If the
// cluster doesn't answer the first question, askScopes returns an error, because each
// question retries for a while.
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
				return session.Untouched(ctx, &load.UnansweredError{Err: err})
			}
			if err == nil && !found.Namespaced {
				inputs.ClusterScoped[key] = true
			}
		}
	}
	return nil
}

// apiKind is a kind as a form names it.
type apiKind struct{ apiVersion, kind string }

// kindsOf returns the kinds of a form's resources and tombstones.
func kindsOf(f *form.Form) []apiKind {
	var kinds []apiKind
	for _, r := range f.WithChartKinds().Resources {
		kinds = append(kinds, apiKind{r.APIVersion, r.Kind})
	}
	for _, t := range f.Tombstones {
		kinds = append(kinds, apiKind{t.APIVersion, t.Kind})
	}
	return kinds
}

// SuggestRights adds a command to the error of a run that lacked permissions. The command
// lists the missing ones.
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
