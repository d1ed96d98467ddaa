package robust_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// resources returns the model's kinds, in the order in which look lists them. Inventories
// come last, so that no object is newer than its inventory.
func (w *world) resources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		resourceOf(model.Claim), resourceOf(model.Set), resourceOf(model.Job), resourceOf(model.Note), w.widgets(), configMaps(),
	}
}

// resourceOf returns the resource of a kind that every cluster has.
func resourceOf(kind string) schema.GroupVersionResource {
	switch kind {
	case model.Claim:
		return schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	case model.Set:
		return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	case model.Job:
		return schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	case model.Note:
		return schema.GroupVersionResource{Version: "v1", Resource: "events"}
	case model.Space:
		return schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	case model.Kind:
		return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	case "ClusterRole":
		return schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
	case "ClusterRoleBinding":
		return schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}
	case "Secret":
		return schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	}
	return configMaps()
}

func configMaps() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
}

func (w *world) widgets() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: w.group, Version: "v1", Resource: "widgets"}
}

// look takes a picture of the cluster. Objects of unserved kinds are as they were last
// seen.
func (w *world) look(t *testing.T) *model.Cluster {
	t.Helper()
	c := &model.Cluster{Objects: map[string]model.Object{}, UIDs: map[string]bool{}}
	w.earlier, w.known = w.known, make(map[*unstructured.Unstructured]known, len(w.known))
	for _, kind := range []string{model.Space, model.Kind} {
		w.list(t, c, resourceOf(kind), model.None)
	}
	for _, resource := range w.resources() {
		if resource.Resource == "widgets" && !w.served {
			w.remember(c, model.Widget)
			continue
		}
		for alias := range w.namespaces {
			w.list(t, c, resource, alias)
		}
	}
	for uid := range w.strangers {
		o, is := c.Objects[uid]
		if _, entry := c.Holder(o); !is || entry.UID == uid {
			delete(w.strangers, uid)
			continue
		}
		o.Strange = true
		c.Objects[uid] = o
	}
	if w.memory != nil {
		for _, o := range w.memory.All("operator.lynq.sh", operatorNodes, w.Namespace) {
			c.UIDs[string(o.GetUID())] = true
			c.Operated = append(c.Operated, model.Operated{Name: o.GetName(), UID: string(o.GetUID()), Namespace: o.GetNamespace(), Deleting: o.GetDeletionTimestamp() != nil})
		}
	}
	return c
}

// list adds the objects of a kind in a namespace of the model.
func (w *world) list(t *testing.T, c *model.Cluster, resource schema.GroupVersionResource, namespace string) {
	t.Helper()
	if w.memory != nil {
		for _, o := range w.memory.All(resource.Group, resource.Resource, w.namespaces[namespace]) {
			w.add(t, c, o, namespace)
		}
		return
	}
	list, err := w.Dynamic.Resource(resource).Namespace(w.namespaces[namespace]).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		w.add(t, c, &list.Items[i], namespace)
	}
}

// remember adds the objects of a kind from the last picture.
func (w *world) remember(c *model.Cluster, kind string) {
	for uid, o := range w.last.Objects {
		if o.Kind == kind {
			c.Objects[uid], c.UIDs[uid] = o, true
		}
	}
}

// add adds an object or an inventory. A server in memory never changes one that it has given,
// so that what the last picture knew of it holds.
func (w *world) add(t *testing.T, c *model.Cluster, o *unstructured.Unstructured, namespace string) {
	t.Helper()
	k, is := w.earlier[o]
	if !is {
		k = w.see(t, o, namespace)
	}
	w.known[o] = k
	if k.uid != "" {
		c.UIDs[k.uid] = true
	}
	if k.inventory != nil {
		c.Inventories = append(c.Inventories, *k.inventory)
	}
	if k.object != nil {
		c.Objects[k.uid] = *k.object
	}
}

// see looks at an object for the first time.
func (w *world) see(t *testing.T, o *unstructured.Unstructured, namespace string) known {
	t.Helper()
	if _, is := w.narrow(o.GetKind(), o.GetName()); !is {
		return known{} // another world's
	}
	k := known{uid: string(o.GetUID())}
	switch record := o.GetLabels()["lynq.sh/record"]; {
	case record == "node" || record == "copy":
		inventory := w.inventory(o)
		k.inventory = &inventory
	case record != "" || o.GetName() == "kube-root-ca.crt" || o.GetName() == theirs:
	case o.GetKind() == model.Note && !strings.Contains(o.GetName(), "-note"): // of a controller
	case o.GetKind() == model.Job && o.GetLabels()["lynq.sh/hub"] != "" && !slices.Contains([]string{"forged", "task"}, o.GetAnnotations()["lynq.sh/resource-id"]):
		// A running hook isn't an object of its node, and leaves when it has ended.
	default:
		object, err := w.objectOf(o, namespace)
		if err != nil {
			t.Fatal(err)
		}
		k.object = &object
	}
	return k
}

func (w *world) objectOf(o *unstructured.Unstructured, namespace string) (model.Object, error) {
	name, _ := w.narrow(o.GetKind(), o.GetName())
	whenDeleted, _, _ := unstructured.NestedString(o.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
	object := model.Object{
		Ref: model.Ref{Kind: o.GetKind(), Namespace: namespace, Name: name}, UID: string(o.GetUID()),
		Labels: kept(o.GetLabels(), true), Annotations: kept(o.GetAnnotations(), true), Deleting: o.GetDeletionTimestamp() != nil,
		TakesClaims: whenDeleted == "Delete",
	}
	for _, part := range []string{"data", "spec"} {
		if plan, is, _ := unstructured.NestedString(o.Object, part, "plan"); is {
			object.Plan = plan
		}
		if host, _, _ := unstructured.NestedString(o.Object, part, "host"); host != "" {
			object.Theirs += host // a controller filled it
		}
		if theirs, _, _ := unstructured.NestedString(o.Object, part, "theirs"); theirs != "" {
			object.Theirs += theirs
		}
	}
	object.Theirs += o.GetLabels()[theirs]
	for _, ref := range o.GetOwnerReferences() {
		if ref.Name == theirs {
			object.Theirs += " owner"
		}
		object.Owners = append(object.Owners, model.Owner{UID: string(ref.UID), Controller: ref.Controller != nil && *ref.Controller, Theirs: ref.Name == theirs})
	}
	content := maps.Clone(o.Object)
	delete(content, "metadata")
	delete(content, "status")
	if spec, is := content["spec"].(map[string]any); is {
		spec = maps.Clone(spec)
		delete(spec, "volumeName") // the controller of volumes binds it
		if o.GetKind() == model.Job {
			delete(spec, "selector") // the server sets it, and labels of the template
			delete(spec, "template")
		}
		content["spec"] = spec
	}
	var err error
	if object.Body, err = text(content, kept(o.GetLabels(), false), kept(o.GetAnnotations(), false)); err == nil {
		object.Whole, err = text(content, kept(o.GetLabels(), true), kept(o.GetAnnotations(), true), object.Owners)
	}
	if o.GetLabels()["set"] != "" {
		object.Whole = object.Body // the controller of StatefulSets sets the owners of claims
	}
	return object, err
}

// kept returns the labels or annotations that clients write, with or without lynqctl's own.
func kept(all map[string]string, whole bool) map[string]string {
	kept := maps.Clone(all)
	maps.DeleteFunc(kept, func(key, _ string) bool {
		domain, _, _ := strings.Cut(key, "/")
		controllers := strings.HasSuffix(domain, "kubernetes.io") && domain != "applyset.kubernetes.io" && domain != "app.kubernetes.io"
		return controllers || !whole && (domain == "lynq.sh" || domain == "applyset.kubernetes.io")
	})
	if len(kept) == 0 {
		return nil // none is the same as an empty list
	}
	return kept
}

func text(parts ...any) (string, error) {
	b, err := json.MarshalIndent(parts, "", " ")
	return string(b), err
}

// inventory decodes an inventory, or a copy of one. An unreadable one has no entries.
func (w *world) inventory(o *unstructured.Unstructured) model.Inventory {
	labels := o.GetLabels()
	name := strings.TrimPrefix(strings.TrimPrefix(o.GetName(), "lynqcopy-"), "lynqnode-")
	i := model.Inventory{
		Name: name, Namespace: o.GetNamespace(), UID: string(o.GetUID()), ApplySet: applySet("lynqnode-"+name, o.GetNamespace()),
		Node: model.Node{Hub: labels["lynq.sh/hub"], Form: labels["lynq.sh/template"], Row: labels["lynq.sh/uid"]},
		Copy: labels["lynq.sh/record"] == "copy", Deleting: o.GetDeletionTimestamp() != nil,
	}
	var entries []struct {
		Key, UID, Deletion string
		Excluded, Adopted  bool
		HoldsData, Ended   bool
	}
	data, _, _ := unstructured.NestedString(o.Object, "data", "resources")
	if json.Unmarshal([]byte(data), &entries) != nil {
		return i
	}
	for _, e := range entries {
		key, _, _ := strings.Cut(e.Key, "@")
		ref := w.refOf(key)
		for alias, namespace := range w.namespaces {
			if ref.Namespace == namespace {
				ref.Namespace = alias
				break
			}
		}
		i.Entries = append(i.Entries, model.Entry{Ref: ref, UID: e.UID, Deletion: e.Deletion, Excluded: e.Excluded, Adopted: e.Adopted, Data: e.HoldsData, Ended: e.Ended})
	}
	return i
}

// refOf returns the object that a key of an inventory names. The key of an object without a
// namespace is KIND/NAME.
func (w *world) refOf(key string) model.Ref {
	kind, name, _ := strings.Cut(key, "/")
	if kind == "Project" {
		kind = model.Space // whose view it is
	}
	if kind != model.Space && kind != model.Kind {
		return model.ParseRef(key)
	}
	short, _ := w.narrow(kind, name)
	return model.Ref{Kind: kind, Namespace: model.None, Name: short}
}
