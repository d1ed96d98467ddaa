package incluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/deploy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

// options say what runs in the cluster.
type options struct {
	Apply applycmd.Options
	// Kind is the kind of the object that runs pods. Place is its NAMESPACE/NAME, or "" to
	// derive both from the hubs.
	Kind  deploy.Kind
	Place string
	// Suffix ends a name that comes from a hub.
	Suffix string
	Image  string // "" means the image of this release
	// Args are further arguments of the command.
	Args []string
	// For is the command that needs permissions. Optional includes permissions that the
	// command can do without.
	For      rbac.Purpose
	Optional bool
}

// manifests reads the inputs and calls layout with the complete options. It returns the
// resulting text.
func manifests(ctx context.Context, e *session.Engine, o *options, layout func(*deploy.Options) (string, error)) (string, error) {
	ctx, cancel := session.Deadline(ctx, o.Apply.Timeout)
	defer cancel()
	out, err := o.pod(e.Version)
	if err != nil {
		return "", err
	}
	stdin, err := remembered(ctx, e, o.Apply.Inputs.Paths)
	if err != nil {
		return "", err
	}
	g := &gatherer{Engine: e, o: o, stdin: stdin}
	reading := *e
	reading.Stdin = stdin()
	inputs, err := load.Prepare(ctx, &reading, &o.Apply.RenderOptions, o.Apply.Nothing)
	if err != nil {
		return "", err
	}
	if err := o.Apply.Identify(inputs.Hubs); err != nil {
		return "", &session.Error{Outcome: session.BadInput, Err: err, Summary: o.Apply.Nothing}
	}
	if err := inputs.CheckShard(o.Apply.Shard, o.Apply.Nothing); err != nil {
		return "", err
	}
	if err := g.complete(ctx, inputs, out); err != nil {
		return "", err
	}
	text, err := layout(out)
	if err != nil {
		return "", &session.Error{Outcome: session.BadInput, Err: err, Summary: o.Apply.Nothing}
	}
	return text, nil
}

// pod returns the options of the pods, without the inputs.
func (o *options) pod(version string) (*deploy.Options, error) {
	out := &deploy.Options{Image: o.Image, Args: slices.Clone(o.Args)}
	slices.Sort(out.Args)
	var errs []error
	if o.Place != "" {
		namespace, name, found := strings.Cut(o.Place, "/")
		if out.Namespace, out.Name = namespace, name; !found || !naming.IsDNS1123Label(namespace) || !naming.IsDNS1123Label(name) {
			errs = append(errs, fmt.Errorf("%s: %q is not valid; write NAMESPACE/NAME", o.Kind.Flag(), o.Place))
		}
	}
	if o.Image == "" {
		image, err := deploy.ImageOf(version)
		out.Image = image
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, session.BadUsage(err)
	}
	return out, nil
}

// gatherer collects the parts of manifests.
type gatherer struct {
	*session.Engine
	o     *options
	stdin func() io.Reader
	// tombstones come from files.
	tombstones []lynq.Tombstone
}

// complete adds the facts from the inputs to the options.
func (g *gatherer) complete(ctx context.Context, inputs *load.Inputs, out *deploy.Options) (err error) {
	out.Name = cmp.Or(out.Name, g.o.named(inputs.Hubs))
	if out.Namespace == "" {
		if out.Namespace, err = g.o.commonNamespace(inputs.Hubs); err != nil {
			return session.BadUsage(err)
		}
	}
	if err := g.o.settled(inputs.Hubs, out.Namespace); err != nil {
		return &session.Error{Outcome: session.BadInput, Err: err, Summary: g.o.Apply.Nothing}
	}
	if err := g.files(inputs.Inputs, out); err != nil {
		return err
	}
	rows := load.RowSource{Override: g.o.Apply.Sources}
	connections, errs := rows.Locate(inputs.Hubs)
	if err := errors.Join(errs...); err != nil {
		return session.BadUsage(err)
	}
	problems, warnings := g.o.reachable(inputs.Hubs, connections)
	if len(problems) > 0 {
		return session.BadInputs(problems, g.o.Apply.Nothing)
	}
	g.Warn(warnings)
	return g.roles(ctx, inputs, connections, out)
}

// named returns the default name of the object.
func (o *options) named(hubs []load.HubPrograms) string {
	if name := "lynqctl-" + hubs[0].Key.Name + o.Suffix; len(hubs) == 1 && o.Kind.Named(name) {
		return name
	}
	return "lynqctl" + o.Suffix
}

// commonNamespace returns the namespace that all hubs share.
func (o *options) commonNamespace(hubs []load.HubPrograms) (string, error) {
	for _, h := range hubs[1:] {
		if h.Key.Namespace != hubs[0].Key.Namespace {
			return "", fmt.Errorf("hubs %s and %s are in two namespaces: pass %s NAMESPACE/NAME, or pick one of them with --hub", hubs[0].Key, h.Key, o.Kind.Flag())
		}
	}
	return hubs[0].Key.Namespace, nil
}

// settled checks that the hubs keep their namespaces in the pod. A hub without a namespace
// gets the pod's.
func (o *options) settled(hubs []load.HubPrograms, place string) error {
	var errs []error
	for _, h := range hubs {
		if h.Hub.Namespace == "" && o.Apply.Namespace == "" && h.Key.Namespace != place {
			errs = append(errs, fmt.Errorf("%s: hub %q has no namespace: here it is %s, and in a pod of namespace %s it would be another hub (give it metadata.namespace)", h.Hub.Pos, h.Hub.Name, h.Key, place))
		}
	}
	return errors.Join(errs...)
}
