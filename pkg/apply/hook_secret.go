package apply

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// secret is the Secret with the manifests of a node's hooks, nil where there is none.
func (n *nodeRun) secret() (*unstructured.Unstructured, lynq.APIResource, error) {
	r, err := n.Cluster.Resource(n.finishing, "", "v1", "Secret")
	if err != nil {
		return nil, r, err
	}
	live, err := n.Cluster.Get(n.finishing, r, n.plan.Namespace, inventory.HooksName(n.plan.Name))
	switch {
	case apierrors.IsNotFound(err):
		return nil, r, nil
	case err != nil:
		return nil, r, err
	case live.GetLabels()[lynq.LabelRecord] != lynq.RecordHooks:
		return nil, r, fmt.Errorf("it has no label %s=%s, so that it is not lynqctl's (rename or delete it)", lynq.LabelRecord, lynq.RecordHooks)
	}
	return live, r, nil
}

// readManifests are what the Secret has, by digest.
func (n *nodeRun) readManifests() (map[string][]byte, error) {
	live, _, err := n.secret()
	if err != nil || live == nil {
		return nil, err
	}
	manifests := map[string][]byte{}
	for digest, text := range dataOf(live) {
		if manifests[digest], err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, fmt.Errorf("data.%s is not base64", digest)
		}
	}
	return manifests, nil
}

func dataOf(secret *unstructured.Unstructured) map[string]string {
	data, _, _ := unstructured.NestedStringMap(secret.Object, "data")
	return data
}

// writeManifests writes what the form says of the node's hooks, beside what the
// inventory names now.
func (n *nodeRun) writeManifests() error {
	hooks := n.plan.Desired.Hooks
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
		// One of an inventory that is gone may be about to be collected.
		err := n.tryWriteManifests(maps.Clone(data))
		if moved := apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err); !moved || try == maxTries {
			return err
		}
	}
}

func (n *nodeRun) tryWriteManifests(data map[string]string) error {
	live, r, err := n.secret()
	if err != nil {
		return err
	}
	if live == nil {
		return n.putSecret(r, n.newSecret(), data)
	}
	for digest, text := range dataOf(live) {
		if _, said := data[digest]; !said && n.names(digest) {
			data[digest] = text
		}
	}
	return n.putSecret(r, live, data)
}

// names tells whether the inventory names a manifest.
func (n *nodeRun) names(digest string) bool {
	return slices.ContainsFunc(n.inventory.Hooks, func(r inventory.Entry) bool { return r.Digest == digest })
}

// dropManifests takes off what the inventory does not name any more. The next change
// does it where this fails.
func (n *nodeRun) dropManifests() {
	if n.plan.Desired == nil || n.plan.Inventory == nil || !slices.ContainsFunc(n.plan.Inventory.Hooks, func(r inventory.Entry) bool { return !n.names(r.Digest) }) {
		return
	}
	if err := n.tryDropManifests(); err != nil {
		n.report(Event{Type: EventWarning, Message: fmt.Sprintf("Secret %s/%s still has manifests with runOn: Delete that the form has no more: %v", n.plan.Namespace, inventory.HooksName(n.plan.Name), err)})
	}
}

func (n *nodeRun) tryDropManifests() error {
	live, r, err := n.secret()
	if err != nil || live == nil {
		return err
	}
	data := maps.Clone(dataOf(live))
	maps.DeleteFunc(data, func(digest, _ string) bool { return !n.names(digest) })
	if len(data) > 0 {
		return n.putSecret(r, live, data)
	}
	permit, err := plan.PermitHooks(n.inventory, live.GetUID(), live.GetResourceVersion())
	if err != nil {
		return err
	}
	_, err = n.Cluster.Delete(n.finishing, r, permit, Deletion{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// reownManifests gives the Secret to the inventory, or takes it from any: the garbage
// collector deletes what belongs to an object that is gone.
func (n *nodeRun) reownManifests(owned bool) error {
	if len(n.inventory.Hooks) == 0 {
		return nil
	}
	live, r, err := n.secret()
	if err == nil && live != nil {
		err = n.writeSecret(r, live, owned)
	}
	if err != nil {
		return fmt.Errorf("change the owner of Secret %s: %w", inventory.HooksName(n.plan.Name), err)
	}
	return nil
}

func (n *nodeRun) newSecret() *unstructured.Unstructured {
	s := &unstructured.Unstructured{Object: map[string]any{"type": "Opaque"}}
	s.SetAPIVersion("v1")
	s.SetKind("Secret")
	s.SetNamespace(n.plan.Namespace)
	s.SetName(inventory.HooksName(n.plan.Name))
	s.SetLabels(map[string]string{lynq.LabelRecord: lynq.RecordHooks, lynq.LabelHub: n.plan.Hub, lynq.LabelManagedBy: lynq.ManagedBy})
	return s
}

// putSecret writes the Secret with this data, as the inventory's.
func (n *nodeRun) putSecret(r lynq.APIResource, s *unstructured.Unstructured, data map[string]string) error {
	if err := unstructured.SetNestedStringMap(s.Object, data, "data"); err != nil {
		return err
	}
	return n.writeSecret(r, s, true)
}

func (n *nodeRun) writeSecret(r lynq.APIResource, s *unstructured.Unstructured, owned bool) error {
	s.SetOwnerReferences(nil)
	if owned {
		s.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: inventory.Name(n.plan.Name), UID: types.UID(n.inventory.UID)}})
	}
	verb := Update
	if s.GetUID() == "" {
		verb = Create
	}
	body, err := fields.Marshal(s.Object)
	if err != nil {
		return err
	}
	w := Write{Verb: verb, Namespace: s.GetNamespace(), Name: s.GetName(), Body: body}
	if verb == Update {
		ref := lynq.Ref{Kind: "Secret", Namespace: w.Namespace, Name: w.Name}
		if w.Owners, err = plan.PermitOwners(&plan.Step{Entry: &inventory.Entry{Ref: ref}, Live: &plan.Live{Ref: ref, UID: s.GetUID()}}); err != nil {
			return err
		}
	}
	_, err = n.Cluster.Write(n.finishing, r, w)
	return err
}
