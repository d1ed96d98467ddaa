package incluster

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

// RightsOptions say which permissions Rights computes.
type RightsOptions struct {
	Apply applycmd.Options
	For   []rbac.Purpose
	// Data lets orphans prune also delete objects that hold data.
	Data bool
	// Optional includes permissions that the commands can do without.
	Optional bool
	// Namespaces are the only namespaces in which the commands run. Empty means all.
	Namespaces []string
	// Shards is the number of shards of runs in addition to runs of whole hubs, 0 for none.
	Shards int
}

// Rights returns the least permissions that the commands need for the inputs, and the hubs of
// the inputs. It asks the cluster only for kinds that the inputs leave open.
func Rights(ctx context.Context, e *session.Engine, o *RightsOptions) (*rbac.Rights, []lynq.HubKey, error) {
	ctx, cancel := session.Deadline(ctx, o.Apply.Timeout)
	defer cancel()
	inputs, err := load.Prepare(ctx, e, &o.Apply.RenderOptions, o.Apply.Nothing)
	if err != nil {
		return nil, nil, err
	}
	if err := o.Apply.Identify(inputs.Hubs); err != nil {
		return nil, nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: o.Apply.Nothing}
	}
	for _, h := range inputs.Hubs {
		if err := session.Covered(o.Namespaces, h.Key, nil, h.Namespaces(), o.Apply.Nothing); err != nil {
			return nil, nil, err
		}
	}
	stones, err := form.LoadTombstones(o.Apply.Tombstones.Paths)
	if err != nil {
		return nil, nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: o.Apply.Nothing}
	}
	var hubs []rbac.Hub
	for _, h := range inputs.Hubs {
		hub, err := hubRights(h, inputs.Secrets)
		if err != nil {
			return nil, nil, session.BadUsage(err)
		}
		hubs = append(hubs, hub)
	}
	rights, err := rightsOf(ctx, e, o, inputs, hubs, stones)
	return rights, load.HubKeys(inputs.Hubs), err
}

// rightsOf returns the permissions for inputs that are loaded already.
func rightsOf(ctx context.Context, e *session.Engine, o *RightsOptions, inputs *load.Inputs, hubs []rbac.Hub, stones []lynq.Tombstone) (*rbac.Rights, error) {
	in := &rbac.Input{Hubs: hubs, For: o.For, Tombstones: stones, Kinds: rbac.KnownKinds(inputs.Inputs), Data: o.Data, Optional: o.Optional, Namespaces: o.Namespaces, Shards: o.Shards}
	if err := learnKinds(ctx, e, o, in); err != nil {
		return nil, err
	}
	rights := rbac.Of(in)
	return &rights, nil
}

// hubRights returns the parts of a hub and its forms that permissions depend on.
func hubRights(h load.HubPrograms, secrets []*form.Secret) (rbac.Hub, error) {
	hub := rbac.Hub{HubKey: h.Key}
	for _, p := range h.Programs {
		hub.Forms = append(hub.Forms, rbac.Form{Form: p.Form.WithChartKinds(), Namespace: p.Namespace, Exclude: p.Exclude})
	}
	password, certificate := h.Hub.Password, h.Hub.Certificate
	wanted := map[*lynq.Ref]string{}
	if password.Env == "" && password.File == "" {
		wanted[&hub.Secret] = password.SecretName
	}
	if certificate.Env == "" && certificate.File == "" {
		wanted[&hub.Certificate] = certificate.SecretName
	}
	for ref, name := range wanted {
		if name == "" {
			continue
		}
		namespace, err := load.SecretNamespace(h)
		if err != nil {
			return hub, err
		}
		if !slices.ContainsFunc(secrets, func(s *form.Secret) bool { return load.IsSecret(s, namespace, name) }) {
			*ref = lynq.Ref{Kind: "Secret", Namespace: namespace, Name: name}
		}
	}
	return hub, nil
}

// learnKinds asks the cluster for kinds that the inputs don't define. If a run may delete a
// Namespace, it asks for all kinds in one.
func learnKinds(ctx context.Context, e *session.Engine, o *RightsOptions, in *rbac.Input) error {
	unknown, all := in.Kinds.Unknown(in.Hubs), in.NeedsAll()
	if len(unknown) == 0 && !all {
		return nil
	}
	client, err := e.ConnectToLook(&o.Apply.Access)
	if err == nil && all {
		in.All, err = client.Listable(ctx)
	}
	if err != nil {
		in.All, in.NotAsked = nil, err
	}
	var problems lynq.Problems
	for _, r := range unknown {
		group, version := lynq.SplitAPIVersion(r.APIVersion)
		why := err
		if why == nil {
			var found lynq.APIResource
			if found, why = client.Resource(ctx, group, version, r.Kind); why == nil {
				in.Kinds.Add(found)
				continue
			}
		}
		if meta.IsNoMatchError(why) {
			why = errors.New("the cluster doesn't serve it")
		}
		problems.Add(r.Pos, "pass its CustomResourceDefinition with -f, or choose a cluster that serves it with --context",
			"kind %s has no CustomResourceDefinition in the inputs, and its plural is unknown: %v", lynq.Ref{Group: group, Kind: r.Kind}.GroupKind(), why)
	}
	if cause := context.Cause(ctx); cause != nil {
		return session.Unread(ctx, cause)
	}
	if len(problems) > 0 {
		return session.BadInputs(problems, o.Apply.Nothing)
	}
	return nil
}

// accessAtOnce limits the parallel questions to the API server.
const accessAtOnce = 8

// Lacking returns the rules with verbs that the user of the kubeconfig lacks.
func Lacking(ctx context.Context, e *session.Engine, o *RightsOptions, rules []rbac.Rule) ([]rbac.Rule, error) {
	ctx, cancel := session.Deadline(ctx, o.Apply.Timeout)
	defer cancel()
	client, err := e.ConnectToLook(&o.Apply.Access)
	if err != nil {
		return nil, err
	}
	denied := make([][]bool, len(rules))
	asking, within := errgroup.WithContext(ctx)
	asking.SetLimit(accessAtOnce)
	for i := range rules {
		denied[i] = make([]bool, len(rules[i].Verbs))
		for j, verb := range rules[i].Verbs {
			asking.Go(func() error {
				allowed, err := mayAll(within, client, &rules[i], verb)
				denied[i][j] = !allowed
				return err
			})
		}
	}
	if err := asking.Wait(); err != nil {
		return nil, session.Unread(ctx, err)
	}
	var lacking []rbac.Rule
	for i, r := range rules {
		var verbs []string
		for j, verb := range r.Verbs {
			if denied[i][j] {
				verbs = append(verbs, verb)
			}
		}
		if r.Verbs = verbs; len(verbs) > 0 {
			lacking = append(lacking, r)
		}
	}
	return lacking, nil
}

// mayAll reports whether the user has a verb for all objects of a rule.
func mayAll(ctx context.Context, client *kube.Client, r *rbac.Rule, verb string) (bool, error) {
	names := r.Names
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		allowed, err := client.Allowed(ctx, verb, r.Group, r.Resource, r.Namespace, name)
		if err != nil || !allowed {
			return false, err
		}
	}
	return true, nil
}
