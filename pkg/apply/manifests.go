package apply

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// ManifestCluster reads and writes a Kubernetes API for hooks.
type ManifestCluster interface {
	write.Cluster
	write.Deleter
	// Resource finds out how the API server serves a kind.
	Resource(ctx context.Context, group, version, kind string) (lynq.APIResource, error)
}

// Manifests stores the manifests of a node's hooks in a Secret that belongs to the
// node's inventory.
type Manifests struct {
	Cluster   ManifestCluster
	Ctx       context.Context
	Node      lynq.NodeID
	Inventory *inventory.Inventory
}

// secret returns the Secret with the manifests of a node's hooks, or nil.
func (m *Manifests) secret() (*unstructured.Unstructured, lynq.APIResource, error) {
	r, err := m.Cluster.Resource(m.Ctx, "", "v1", "Secret")
	if err != nil {
		return nil, r, err
	}
	live, err := m.Cluster.Get(m.Ctx, r, m.Node.Namespace, inventory.HooksName(m.Node.Name))
	switch {
	case apierrors.IsNotFound(err):
		return nil, r, nil
	case err != nil:
		return nil, r, err
	case live.GetLabels()[wellknown.LabelRecord] != wellknown.RecordHooks:
		return nil, r, fmt.Errorf("it lacks the label %s=%s, so lynqctl didn't write it (rename or delete it)", wellknown.LabelRecord, wellknown.RecordHooks)
	}
	return live, r, nil
}

// Read returns the manifests in the Secret, by digest.
func (m *Manifests) Read() (map[string][]byte, error) {
	live, _, err := m.secret()
	if err != nil || live == nil {
		return nil, err
	}
	all := map[string][]byte{}
	for digest, text := range dataOf(live) {
		if all[digest], err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, fmt.Errorf("data.%s is not base64", digest)
		}
	}
	return all, nil
}

func dataOf(secret *unstructured.Unstructured) map[string]string {
	data, _, _ := unstructured.NestedStringMap(secret.Object, "data")
	return data
}

// Write stores the manifests of the form's hooks. It keeps the manifests that the inventory
// still names.
func (m *Manifests) Write(hooks []plan.Object) error {
	if len(hooks) == 0 {
		return nil
	}
	data := map[string]string{}
	for i := range hooks {
		manifest, err := hooks[i].HookManifest()
		if err != nil {
			return err
		}
		data[hooks[i].Digest] = base64.StdEncoding.EncodeToString(manifest)
	}
	for try := 0; ; try++ {
		// If the inventory is gone, the garbage collector may be about to delete its
		// Secret.
		err := m.tryWrite(maps.Clone(data))
		if moved := apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err); !moved || try == write.MaxTries {
			return err
		}
	}
}

func (m *Manifests) tryWrite(data map[string]string) error {
	live, r, err := m.secret()
	if err != nil {
		return err
	}
	if live == nil {
		return m.put(r, m.newSecret(), data)
	}
	for digest, text := range dataOf(live) {
		if _, said := data[digest]; !said && m.Names(digest) {
			data[digest] = text
		}
	}
	if fixed, _, _ := unstructured.NestedBool(live.Object, "immutable"); fixed && !maps.Equal(data, dataOf(live)) {
		return errors.New("another client made it immutable, and Kubernetes never takes that back (delete it, and run again)")
	}
	return m.put(r, live, data)
}

// Names reports whether the inventory names a manifest.
func (m *Manifests) Names(digest string) bool {
	return slices.ContainsFunc(m.Inventory.Hooks, func(r inventory.Entry) bool { return r.Digest == digest })
}

// Drop removes the manifests that the inventory no longer names.
func (m *Manifests) Drop() error {
	live, r, err := m.secret()
	if err != nil || live == nil {
		return err
	}
	data := maps.Clone(dataOf(live))
	maps.DeleteFunc(data, func(digest, _ string) bool { return !m.Names(digest) })
	if len(data) > 0 {
		return m.put(r, live, data)
	}
	permit, err := decide.PermitHooks(m.Inventory, live.GetUID(), live.GetResourceVersion())
	if err != nil {
		return err
	}
	_, err = m.Cluster.Delete(m.Ctx, r, permit, write.Deletion{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Reown makes the inventory the only owner of the Secret, or removes every owner. The
// garbage collector deletes objects with a missing owner, and keeps those without one. So if
// a read has no Secret, its owners stay unknown until a dry run of its creation succeeds. The
// error is a *decide.BehindError if the server has the Secret.
func (m *Manifests) Reown(owned bool) error {
	if len(m.Inventory.Hooks) == 0 {
		return nil
	}
	live, r, err := m.secret()
	switch {
	case err != nil:
	case live != nil:
		err = m.send(r, live, owned, false)
	default:
		if err = m.send(r, m.newSecret(), false, true); apierrors.IsAlreadyExists(err) {
			return &decide.BehindError{Inventory: lynq.Ref{Kind: "ConfigMap", Namespace: m.Node.Namespace, Name: inventory.Name(m.Node.Name)}, Objects: []lynq.Ref{{Kind: "Secret", Namespace: m.Node.Namespace, Name: inventory.HooksName(m.Node.Name)}}}
		}
	}
	if err != nil {
		return fmt.Errorf("change the owner of Secret %s: %w", inventory.HooksName(m.Node.Name), err)
	}
	return nil
}

func (m *Manifests) newSecret() *unstructured.Unstructured {
	s := &unstructured.Unstructured{Object: map[string]any{"type": "Opaque"}}
	s.SetAPIVersion("v1")
	s.SetKind("Secret")
	s.SetNamespace(m.Node.Namespace)
	s.SetName(inventory.HooksName(m.Node.Name))
	s.SetLabels(map[string]string{wellknown.LabelRecord: wellknown.RecordHooks, wellknown.LabelHub: m.Node.Hub.Name, wellknown.LabelManagedBy: wellknown.ManagedBy})
	return s
}

// put writes the Secret with this data, owned by the inventory.
func (m *Manifests) put(r lynq.APIResource, s *unstructured.Unstructured, data map[string]string) error {
	if err := unstructured.SetNestedStringMap(s.Object, data, "data"); err != nil {
		return err
	}
	return m.send(r, s, true, false)
}

// send creates or updates the Secret, with the inventory as its owner or without an owner.
func (m *Manifests) send(r lynq.APIResource, s *unstructured.Unstructured, owned, dryRun bool) error {
	s.SetOwnerReferences(nil)
	if owned {
		s.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: inventory.Name(m.Node.Name), UID: types.UID(m.Inventory.UID)}})
	}
	verb := write.Update
	if s.GetUID() == "" {
		verb = write.Create
	}
	body, err := fields.Marshal(s.Object)
	if err != nil {
		return err
	}
	w := write.Request{Verb: verb, Namespace: s.GetNamespace(), Name: s.GetName(), Body: body, DryRun: dryRun}
	if verb == write.Update {
		if w.Owners, err = decide.PermitHooksOwner(m.Inventory, s.GetUID()); err != nil {
			return err
		}
	}
	_, err = m.Cluster.Write(m.Ctx, r, w)
	return err
}

// Object returns the object of a hook. recorded comes from Read. The error names a manifest
// that differs from the recorded digest, or a ServiceAccount that doesn't exist.
func (m *Manifests) Object(of *plan.Plan, me plan.Owner, e *inventory.Entry, recorded map[string][]byte) (*plan.Object, error) {
	o, err := decide.ReadHook(of, me, e, recorded[e.Digest])
	if err != nil {
		return nil, fmt.Errorf("%s must run before lynqctl deletes the node, and its manifest in Secret %s: %w (apply while the row is active records it; %s)",
			e.Ref, inventory.HooksName(m.Node.Name), err, decide.WithoutHook(me, e.Ref))
	}
	return o, m.checkAccount(of, me, o)
}

// checkAccount refuses a hook if its ServiceAccount doesn't exist and only a record names
// the hook. A ServiceAccount that somebody creates later under that name may belong to
// anyone.
func (m *Manifests) checkAccount(of *plan.Plan, me plan.Owner, o *plan.Object) error {
	name, err := decide.Account(of, me, o)
	if err != nil || name == "" {
		return err
	}
	r, err := m.Cluster.Resource(m.Ctx, "", "v1", "ServiceAccount")
	if err == nil {
		_, err = m.Cluster.Get(m.Ctx, r, o.Namespace, name)
	}
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s must run before lynqctl deletes the node, and namespace %s has no ServiceAccount %s (create it, or pass -f with the hub and the form of the node; %s)",
			o.Ref, o.Namespace, name, decide.WithoutHook(me, o.Ref))
	case err != nil:
		return fmt.Errorf("read ServiceAccount %s/%s of hook %s: %w (the hook must run before lynqctl deletes the node. To run it without this check, pass -f with the hub and the form of the node)", o.Namespace, name, o.Ref, err)
	}
	return nil
}

// InNamespace explains an error of a hook's write if its namespace is the cause. If the
// namespace is deleted with the tenant, waiting doesn't help.
func InNamespace(ref lynq.Ref, me plan.Owner, err error) error {
	ending := (*write.NamespaceError)(nil)
	if !errors.As(write.InNamespace(ref.Namespace, "", err), &ending) {
		return err
	}
	what := "does not exist"
	if ending.Terminating {
		what = "is terminating"
	}
	return fmt.Errorf("namespace %s %s: lynqctl can't run the node's hooks in it (%s)", ending.Namespace, what, decide.WithoutHook(me, ref))
}
