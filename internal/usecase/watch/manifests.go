package watch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/internal/usecase/apply"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	usecase "github.com/lynqctl/lynqctl/internal/usecase/rbac"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/deploy"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

// ManifestOptions say how a watch is to run in the cluster.
type ManifestOptions struct {
	Apply apply.Options
	// Deployment is NAMESPACE/NAME of it, "" for what is made of the hubs.
	Deployment string
	Image      string // "" for that of this release
	Replicas   int
	// Listen is where it serves health and metrics, "" for the usual address.
	Listen string
	// Args are further arguments of watch.
	Args []string
}

// Manifests are the manifests of a watch of these inputs that runs in the cluster.
// The cluster is asked only for kinds that the inputs do not say.
func Manifests(ctx context.Context, e *session.Engine, o *ManifestOptions) (string, error) {
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
	w := &watchManifests{Engine: e, o: o, stdin: stdin}
	reading := *e
	reading.Stdin = stdin()
	inputs, err := load.Prepare(ctx, &reading, &o.Apply.RenderOptions, o.Apply.Nothing)
	if err != nil {
		return "", err
	}
	if err := o.Apply.Identify(inputs.Hubs); err != nil {
		return "", &session.Error{Outcome: session.BadInput, Err: err, Summary: o.Apply.Nothing}
	}
	if err := w.complete(ctx, inputs, out); err != nil {
		return "", err
	}
	text, err := deploy.Manifests(out)
	if err != nil {
		return "", &session.Error{Outcome: session.BadInput, Err: err, Summary: o.Apply.Nothing}
	}
	return text, nil
}

// remembered gives standard input as often as it is asked for, where it is read at all.
func remembered(ctx context.Context, e *session.Engine, paths []string) (func() io.Reader, error) {
	if !slices.Contains(paths, "-") {
		return func() io.Reader { return e.Stdin }, nil
	}
	var text []byte
	err := session.Interruptible(ctx, func() error {
		read, err := files.ReadStdin(e.Stdin)
		text = read
		return err
	})
	if err != nil {
		return nil, session.BadUsage(fmt.Errorf("read standard input: %w", err))
	}
	return func() io.Reader { return bytes.NewReader(text) }, nil
}

// watchManifests gathers what manifests are made of.
type watchManifests struct {
	*session.Engine
	o     *ManifestOptions
	stdin func() io.Reader
	// tombstones are those of files.
	tombstones []lynq.Tombstone
}

// complete adds what the inputs say to options.
func (w *watchManifests) complete(ctx context.Context, inputs *load.Inputs, out *deploy.Options) (err error) {
	out.Name = cmp.Or(out.Name, watchName(inputs.Hubs))
	if out.Namespace == "" {
		if out.Namespace, err = commonNamespace(inputs.Hubs); err != nil {
			return session.BadUsage(err)
		}
	}
	if err := w.o.settled(inputs.Hubs, out.Namespace); err != nil {
		return &session.Error{Outcome: session.BadInput, Err: err, Summary: w.o.Apply.Nothing}
	}
	if err := w.files(out); err != nil {
		return err
	}
	rows := load.RowSource{Override: w.o.Apply.Sources}
	connections, errs := rows.Locate(inputs.Hubs)
	if err := errors.Join(errs...); err != nil {
		return session.BadUsage(err)
	}
	problems, warnings := reachable(inputs.Hubs, connections)
	if len(problems) > 0 {
		return session.BadInputs(problems, w.o.Apply.Nothing)
	}
	w.Warn(warnings)
	return w.roles(ctx, inputs, connections, out)
}

// watchName is what a Deployment is called that was given no name.
func watchName(hubs []load.HubPrograms) string {
	if name := "lynqctl-" + hubs[0].Key.Name; len(hubs) == 1 && deploy.Named(name) {
		return name
	}
	return "lynqctl"
}

// commonNamespace is the namespace of all hubs.
func commonNamespace(hubs []load.HubPrograms) (string, error) {
	for _, h := range hubs[1:] {
		if h.Key.Namespace != hubs[0].Key.Namespace {
			return "", fmt.Errorf("hubs %s and %s are in two namespaces: pass --deployment NAMESPACE/NAME, or pick one of them with --hub", hubs[0].Key, h.Key)
		}
	}
	return hubs[0].Key.Namespace, nil
}

// settled tells whether hubs are in the pod what they are here: one without a namespace
// is in that of the pod.
func (o *ManifestOptions) settled(hubs []load.HubPrograms, place string) error {
	var errs []error
	for _, h := range hubs {
		if h.Hub.Namespace == "" && o.Apply.Namespace == "" && h.Key.Namespace != place {
			errs = append(errs, fmt.Errorf("%s: hub %q has no namespace: here it is %s, and in a pod of namespace %s it would be another hub (give it metadata.namespace)", h.Hub.Pos, h.Hub.Name, h.Key, place))
		}
	}
	return errors.Join(errs...)
}

// files reads what pods are to have: inputs without Secrets, and of tombstones what they
// name.
func (w *watchManifests) files(out *deploy.Options) error {
	files, err := form.InputFiles(w.o.Apply.Inputs.Paths, w.o.Apply.Inputs.Recursive, w.stdin())
	if err != nil {
		return w.badInputs(err)
	}
	for _, f := range files {
		if f.Text != "" {
			out.Inputs = append(out.Inputs, deploy.File{Name: f.Name, Text: f.Text})
		}
		for _, s := range f.Secrets {
			w.Notef("warning: %s: Secret %q is skipped, because a ConfigMap isn't secret: create it in the cluster where hubs refer to it", s.Pos, s.Name)
		}
	}
	if w.tombstones, err = form.LoadTombstones(w.o.Apply.Tombstones.Paths); err != nil {
		return w.badInputs(err)
	}
	for i := range w.tombstones {
		text, err := tombstoneManifest(&w.tombstones[i])
		if err != nil {
			return session.Fail(err)
		}
		out.Tombstones = append(out.Tombstones, deploy.File{Name: fmt.Sprintf("tombstone-%d.yaml", i+1), Text: text})
	}
	return nil
}

func (w *watchManifests) badInputs(err error) error {
	if problems, ok := errors.AsType[lynq.Problems](err); ok {
		return session.BadInputs(problems, w.o.Apply.Nothing)
	}
	return &session.Error{Outcome: session.BadInput, Err: err, Summary: w.o.Apply.Nothing}
}

// tombstoneManifest is what counts of a tombstone: of the object there may be more in its
// file, such as the data of a Secret.
func tombstoneManifest(t *lynq.Tombstone) (string, error) {
	metadata := map[string]any{"name": t.Name, "labels": t.Labels}
	if t.Namespace != "" {
		metadata["namespace"] = t.Namespace
	}
	text, err := yaml.Marshal(map[string]any{"apiVersion": t.APIVersion, "kind": t.Kind, "metadata": metadata})
	return string(text), err
}

// reachable tells which hubs need files that no pod has: those beside their own file are
// lost, and others have to be mounted.
func reachable(hubs []load.HubPrograms, connections []lynq.Connection) (problems, warnings lynq.Problems) {
	for i, h := range hubs {
		c, password, certificate := connections[i], h.Hub.Password, h.Hub.Certificate
		needs := map[string]string{"rows": c.Path}
		if load.HasServer(c) {
			needs = map[string]string{"TLS certificates": c.CAFile, "password": password.File, "client certificate": certificate.File, "key": certificate.KeyFile}
			if c.Password != "" {
				problems.Add(h.Hub.Pos, "remove it, and name a Secret with passwordRef", "hub %q: the URL of --source has a password, which anyone could read in the Deployment", h.Hub.Name)
			}
			if password.Env != "" {
				warnings.Add(password.Pos, "add it to the container, or name a Secret with passwordRef", "hub %q: its password is in the environment variable %s, which the Deployment does not set", h.Hub.Name, password.Env)
			}
			if certificate.Env != "" {
				warnings.Add(certificate.Pos, "add it to the container, or name a Secret with certificateRef", "hub %q: its client certificate is in the environment variable %s, which the Deployment does not set", h.Hub.Name, certificate.Env)
			}
		}
		for _, what := range []string{"rows", "TLS certificates", "password", "client certificate", "key"} {
			switch path := needs[what]; {
			case path == "":
			case path == "-":
				problems.Add(h.Hub.Pos, "name a database or an API", "hub %q: its rows are read from standard input, and a pod has none", h.Hub.Name)
			case isBeside(h.Hub.Pos.File, path):
				problems.Add(h.Hub.Pos, "name what pods can reach: a database, a Secret, or an absolute path elsewhere at which a volume is mounted", "hub %q: the file with its %s is %s, which a pod does not have", h.Hub.Name, what, path)
			default:
				warnings.Add(h.Hub.Pos, "add a volume to the Deployment", "hub %q: the file with its %s is %s, which a pod has only where a volume is mounted there", h.Hub.Name, what, path)
			}
		}
	}
	return problems, warnings
}

// isBeside tells whether a path leads to a file by where another one is.
func isBeside(file, path string) bool {
	if !filepath.IsAbs(path) {
		return true
	}
	relative, err := filepath.Rel(filepath.Dir(file), path)
	return err == nil && filepath.IsAbs(file) && filepath.IsLocal(relative)
}

// roles are the least rights, bound to the ServiceAccount.
func (w *watchManifests) roles(ctx context.Context, inputs *load.Inputs, connections []lynq.Connection, out *deploy.Options) error {
	hubs, err := w.hubs(inputs.Hubs, connections, out)
	if err != nil {
		return session.BadUsage(err)
	}
	purposes := []rbac.Purpose{rbac.Watch}
	rights, err := usecase.OfInputs(ctx, w.Engine, &usecase.Options{Apply: w.o.Apply, For: purposes}, inputs, hubs, w.tombstones)
	if err != nil {
		return err
	}
	keys, account := load.HubKeys(inputs.Hubs), rbac.Account{Namespace: out.Namespace, Name: out.Name}
	m, err := rbac.NewManifests(*rights, purposes, keys, "", account)
	if err != nil { // of many hubs, or of long names
		m, err = rbac.NewManifests(*rights, purposes, keys, "lynqctl-"+out.Namespace+"-"+out.Name, account)
	}
	if err != nil {
		return session.BadUsage(err)
	}
	for _, note := range rights.Notes {
		w.Notef("warning: %s", note)
	}
	out.Roles = m.YAML()
	return nil
}

// hubs are what rights depend on. Where there is one database, and the Secret with its
// password is where the pods are, they get that as a variable; else Secrets are read,
// which needs rights.
func (w *watchManifests) hubs(all []load.HubPrograms, connections []lynq.Connection, out *deploy.Options) ([]rbac.Hub, error) {
	var hubs []rbac.Hub
	var servers []int
	for i, h := range all {
		hub, err := usecase.HubOf(h, nil) // those of the inputs are left out
		if err != nil {
			return nil, err
		}
		if load.HasServer(connections[i]) {
			servers = append(servers, i)
		} else {
			hub.Secret, hub.Certificate = lynq.Ref{}, lynq.Ref{}
		}
		hubs = append(hubs, hub)
	}
	if len(servers) == 1 {
		if hub := &hubs[servers[0]]; hub.Secret.Name != "" && hub.Secret.Namespace == out.Namespace {
			from := all[servers[0]].Hub.Password
			out.Password, hub.Secret = deploy.SecretKey{Name: from.SecretName, Key: from.SecretKey}, lynq.Ref{}
		}
	}
	return hubs, nil
}
