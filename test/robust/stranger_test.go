package robust_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// strange changes the cluster like other people and tools. A line without its object does
// nothing.
func (w *world) strange(t *testing.T, op string, args []string) error {
	t.Helper()
	acts := map[string]struct {
		arguments int
		do        func(*testing.T, []string)
	}{
		"make":    {2, w.make},
		"mark":    {2, w.mark},
		"copy":    {1, w.copy},
		"strip":   {1, w.strip},
		"erase":   {1, w.erase},
		"expire":  {1, w.expire},
		"replace": {1, w.replace},
		"remake":  {1, w.remake},
		"forget":  {1, w.forget},
		"lose":    {1, w.lose},
		"drift":   {1, w.drift},
		"untrack": {1, w.untrack},
		"blur":    {2, w.blur},
		"unnamed": {2, w.unnamed},
		"forge":   {1, w.forge},
		"entry":   {2, w.entry},
		"track":   {2, w.track},
		"ghost":   {1, w.ghost},
		"relabel": {2, w.relabel},
		"hook":    {1, w.hook},
		"tamper":  {1, w.tamper},
		"serve":   {1, w.serve},
		"operate": {1, w.operate},
	}
	act, known := acts[op]
	if !known {
		return errUnknown
	}
	if len(args) != act.arguments {
		return fmt.Errorf("%s takes %d arguments, not %q", op, act.arguments, args)
	}
	act.do(t, args)
	return nil
}

// client returns the client for an object's kind and namespace.
func (w *world) client(ref model.Ref) dynamic.ResourceInterface {
	resource := resourceOf(ref.Kind)
	if ref.Kind == model.Widget {
		resource = w.widgets()
	}
	return w.Dynamic.Resource(resource).Namespace(w.namespaces[ref.Namespace])
}

func inventoryRef(node string) model.Ref {
	return model.Ref{Kind: model.Config, Namespace: model.Near, Name: "lynqnode-" + node}
}

// get returns an object, or nil if it doesn't exist.
func (w *world) get(t *testing.T, ref model.Ref) *unstructured.Unstructured {
	t.Helper()
	o, err := w.client(ref).Get(t.Context(), w.wide(ref.Kind, ref.Name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// create creates an object, unless it exists.
func (w *world) create(t *testing.T, ref model.Ref, o *unstructured.Unstructured) {
	t.Helper()
	if ref.Kind == model.Widget && !w.served {
		return
	}
	o.SetName(w.wide(ref.Kind, ref.Name))
	o.SetNamespace(w.namespaces[ref.Namespace])
	made, err := w.client(ref).Create(t.Context(), o, metav1.CreateOptions{})
	switch {
	case err == nil:
		w.strangers[string(made.GetUID())] = true
	case !apierrors.IsAlreadyExists(err):
		t.Fatal(err)
	}
}

// patch merges a change into an object, if it exists.
func (w *world) patch(t *testing.T, ref model.Ref, change map[string]any) {
	t.Helper()
	if _, err := w.tryPatch(t, ref, change); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

func (w *world) tryPatch(t *testing.T, ref model.Ref, change map[string]any) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	return w.client(ref).Patch(t.Context(), w.wide(ref.Kind, ref.Name), types.MergePatchType, body, metav1.PatchOptions{FieldManager: "stranger"})
}

// taken lets another tool take an object during a command. It returns the changed object,
// if it existed.
func (w *world) taken(t *testing.T, name string, ref model.Ref) []model.Object {
	o, err := w.marking(t, name, ref)
	if apierrors.IsNotFound(err) {
		return nil
	}
	var object model.Object
	if err == nil {
		object, err = w.objectOf(o, ref.Namespace)
	}
	if err != nil {
		t.Error(err) // the test's own goroutine waits for the command
		return nil
	}
	return []model.Object{object}
}

// marking changes an object like another tool.
func (w *world) marking(t *testing.T, name string, ref model.Ref) (*unstructured.Unstructured, error) {
	if name != "owner" {
		return w.tryPatch(t, ref, w.tool(name, ref))
	}
	all := w.Dynamic.Resource(configMaps()).Namespace(w.namespaces[ref.Namespace])
	owner, err := all.Get(t.Context(), theirs, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		owner = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		owner.SetName(theirs)
		owner, err = all.Create(t.Context(), owner, metav1.CreateOptions{FieldManager: "stranger"})
	}
	if err != nil {
		return nil, err
	}
	var o *unstructured.Unstructured
	err = retry.RetryOnConflict(retry.DefaultRetry, func() (err error) { // the command writes the object, too
		if o, err = w.client(ref).Get(t.Context(), w.wide(ref.Kind, ref.Name), metav1.GetOptions{}); err != nil {
			return err
		}
		o.SetOwnerReferences(append(o.GetOwnerReferences(), metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: theirs, UID: owner.GetUID()}))
		o, err = w.client(ref).Update(t.Context(), o, metav1.UpdateOptions{FieldManager: "stranger"})
		return err
	})
	return o, err
}

// theirs is the name of the object that strangers make an owner of others.
const theirs = "theirs"

func metadata(labels, annotations map[string]any) map[string]any {
	m := map[string]any{}
	if labels != nil {
		m["labels"] = labels
	}
	if annotations != nil {
		m["annotations"] = annotations
	}
	return map[string]any{"metadata": m}
}

// tool returns the marks of another tool.
func (w *world) tool(name string, ref model.Ref) map[string]any {
	switch name {
	case "helm":
		return metadata(map[string]any{"app.kubernetes.io/managed-by": "Helm"}, map[string]any{"meta.helm.sh/release-name": "theirs", "meta.helm.sh/release-namespace": "theirs"})
	case "argo":
		group := map[string]string{model.Widget: w.group, model.Set: "apps", model.Job: "batch", model.Kind: "apiextensions.k8s.io"}[ref.Kind]
		return metadata(nil, map[string]any{"argocd.argoproj.io/tracking-id": fmt.Sprintf("theirs:%s/%s:%s/%s", group, ref.Kind, w.namespaces[ref.Namespace], w.wide(ref.Kind, ref.Name))})
	case "label":
		return metadata(map[string]any{theirs: "yes"}, nil)
	case "unmanaged":
		return metadata(nil, map[string]any{"lynq.sh/mode": "unmanaged"})
	case "managed":
		return metadata(nil, map[string]any{"lynq.sh/mode": nil})
	}
	return metadata(nil, nil)
}

// make REF bare|helm|taken: creates a stranger's object, with the label that a tombstone
// needs. A taken one has a value for the field that forms set.
func (w *world) make(t *testing.T, a []string) {
	ref := model.ParseRef(a[0])
	tenant, _, _ := strings.Cut(ref.Name, "-")
	content := map[string]any{"theirs": "yes"}
	if a[1] == "taken" {
		content["plan"] = "theirs"
	}
	object := map[string]any{"apiVersion": "v1", "kind": ref.Kind, "data": content}
	switch ref.Kind {
	case model.Claim:
		delete(object, "data")
		object["spec"] = map[string]any{"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}
	case model.Widget:
		delete(object, "data")
		object["apiVersion"], object["spec"] = w.group+"/v1", content
	case model.Job:
		delete(object, "data")
		object["apiVersion"], object["spec"] = "batch/v1", map[string]any{"suspend": true, "template": map[string]any{
			"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "theirs", "image": "theirs"}}},
		}}
	case model.Space:
		delete(object, "data")
	case model.Set, model.Kind, model.Note:
		return // lynqctl creates enough of them
	}
	o := &unstructured.Unstructured{Object: object}
	o.SetLabels(map[string]string{"tenant": tenant})
	w.create(t, ref, o)
	if a[1] == "helm" {
		w.mark(t, a)
	}
}

// mark REF helm|argo|unmanaged|managed
func (w *world) mark(t *testing.T, a []string) {
	ref := model.ParseRef(a[0])
	if ref.Kind != model.Widget || w.served {
		w.patch(t, ref, w.tool(a[1], ref))
	}
}

// copy REF: copies an object under another name, with its whole content.
func (w *world) copy(t *testing.T, a []string) {
	w.copied(t, a, func(*unstructured.Unstructured) {})
}

// strip REF: copies an object like copy, and leaves its labels out.
func (w *world) strip(t *testing.T, a []string) {
	w.copied(t, a, func(o *unstructured.Unstructured) { o.SetLabels(nil) })
}

func (w *world) copied(t *testing.T, a []string, change func(*unstructured.Unstructured)) {
	ref := model.ParseRef(a[0])
	if ref.Kind == model.Widget && !w.served || ref.Kind == model.Set || ref.Kind == model.Kind || ref.Kind == model.Job {
		return
	}
	o := w.get(t, ref)
	if o == nil {
		return
	}
	ref.Name += "-copy"
	o = fresh(o)
	change(o)
	w.create(t, ref, o)
}

// fresh returns an object without the fields that only the server writes.
func fresh(o *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	delete(o.Object, "status")
	unstructured.RemoveNestedField(o.Object, "spec", "volumeName")
	annotations := o.GetAnnotations()
	for key := range annotations {
		if strings.HasPrefix(key, "pv.kubernetes.io/") || strings.HasPrefix(key, "volume.") {
			delete(annotations, key)
		}
	}
	o.SetAnnotations(annotations)
	o.SetUID("")
	o.SetResourceVersion("")
	o.SetManagedFields(nil)
	o.SetFinalizers(nil)
	unstructured.RemoveNestedField(o.Object, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(o.Object, "metadata", "deletionTimestamp")
	unstructured.RemoveNestedField(o.Object, "metadata", "deletionGracePeriodSeconds")
	return o
}

// erase REF: deletes an object, like a person.
func (w *world) erase(t *testing.T, a []string) {
	ref := model.ParseRef(a[0])
	if ref.Kind == model.Widget && !w.served {
		return
	}
	if err := w.client(ref).Delete(t.Context(), w.wide(ref.Kind, ref.Name), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	if ref.Kind == model.Config || ref.Kind == model.Widget { // controllers have finalizers on others
		w.await(t, ref.String()+" to be gone", func() (bool, error) {
			_, err := w.client(ref).Get(t.Context(), w.wide(ref.Kind, ref.Name), metav1.GetOptions{})
			return apierrors.IsNotFound(err), nil
		})
	}
}

// expire REF: deletes a Job that has ended, like the controller of their lifetimes.
func (w *world) expire(t *testing.T, a []string) {
	ref := model.ParseRef(a[0])
	o := w.get(t, ref)
	if ref.Kind != model.Job || o == nil {
		return
	}
	if _, lives, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "ttlSecondsAfterFinished"); !lives {
		return
	}
	w.await(t, ref.String()+" to end", func() (bool, error) {
		o = w.get(t, ref)
		ended, _, err := unstructured.NestedString(o.Object, "status", "completionTime")
		return ended != "", err
	})
	object, err := w.objectOf(o, ref.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	background := metav1.DeletePropagationBackground
	if err := w.client(ref).Delete(t.Context(), ref.Name, metav1.DeleteOptions{PropagationPolicy: &background}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	w.await(t, ref.String()+" to be gone", func() (bool, error) { return w.get(t, ref) == nil, nil })
	w.ended[ref] = object.Body
}

// replace REF: deletes a ConfigMap, and creates another one with the same name.
func (w *world) replace(t *testing.T, a []string) {
	if model.ParseRef(a[0]).Kind == model.Config && w.get(t, model.ParseRef(a[0])) != nil {
		w.erase(t, a)
		w.make(t, []string{a[0], "bare"})
	}
}

// remake REF: deletes a ConfigMap, and creates it again from a copy, with its labels.
func (w *world) remake(t *testing.T, a []string) {
	ref := model.ParseRef(a[0])
	if ref.Kind != model.Config {
		return
	}
	if o := w.get(t, ref); o != nil {
		w.erase(t, a)
		o.SetOwnerReferences(nil)
		w.create(t, ref, fresh(o))
	}
}

// forget NODE: deletes an inventory, like a person.
func (w *world) forget(t *testing.T, a []string) {
	ref := inventoryRef(a[0])
	if err := w.client(ref).Delete(t.Context(), w.wide(ref.Kind, ref.Name), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// lose NODE: removes the finalizers of an inventory, and deletes it without its objects.
// While the server doesn't serve Widgets, the garbage collector can't release those that
// the inventory owns. So the inventory would stay.
func (w *world) lose(t *testing.T, a []string) {
	if !w.served {
		return
	}
	ref := inventoryRef(a[0])
	w.patch(t, ref, map[string]any{"metadata": map[string]any{"finalizers": nil}})
	orphan := metav1.DeletePropagationOrphan
	err := w.client(ref).Delete(t.Context(), w.wide(ref.Kind, ref.Name), metav1.DeleteOptions{PropagationPolicy: &orphan})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	w.await(t, ref.String()+" to be gone", func() (bool, error) { return w.get(t, ref) == nil, nil })
}

// drift REF: changes a field that forms set, and adds a label.
func (w *world) drift(t *testing.T, a []string) {
	ref := model.ParseRef(a[0])
	if ref.Kind == model.Widget && !w.served {
		return
	}
	change := metadata(map[string]any{"tenant": "theirs", "theirs": "yes"}, nil)
	switch ref.Kind {
	case model.Config:
		change["data"] = map[string]any{"plan": "theirs"}
	case model.Widget:
		change["spec"] = map[string]any{"plan": "theirs"}
	}
	w.patch(t, ref, change)
}

// untrack REF: removes the tracking of an object: its labels, or its owners, too.
func (w *world) untrack(t *testing.T, a []string) {
	ref := model.ParseRef(a[0])
	if ref.Kind == model.Widget && !w.served {
		return
	}
	w.patch(t, ref, map[string]any{"metadata": map[string]any{"ownerReferences": nil, "labels": map[string]any{
		"lynq.sh/hub": nil, "lynq.sh/node": nil, "lynq.sh/node-namespace": nil, "applyset.kubernetes.io/part-of": nil,
	}}})
}

// blur NODE REF: changes an entry to that of a run that was killed before the answer.
func (w *world) blur(t *testing.T, a []string) {
	lines := w.linesOf(t, a[0])
	if lines == nil {
		return
	}
	for _, l := range lines {
		if key, _, _ := strings.Cut(fmt.Sprint(l["key"]), "@"); w.refOf(key).Name == model.ParseRef(a[1]).Name {
			delete(l, "uid")
		}
	}
	w.setLines(t, a[0], lines)
}

// unnamed NODE REF: copies an object with its labels, and adds an entry without a uid to an
// inventory that names the copy. A run that was killed before a creation leaves such entries.
func (w *world) unnamed(t *testing.T, a []string) {
	ref := model.ParseRef(a[1])
	o := w.get(t, ref)
	if o == nil || ref.Kind != model.Config && ref.Kind != model.Claim {
		return
	}
	w.copied(t, a[1:], func(o *unstructured.Unstructured) { o.SetOwnerReferences(nil) })
	w.addLine(t, a[0], map[string]any{
		"key": fmt.Sprintf("%s/%s/%s-copy@forged", ref.Kind, o.GetNamespace(), o.GetName()), "apiVersion": o.GetAPIVersion(),
		"digest": "00", "creation": "WhenNeeded", "deletion": "Delete", "conflict": "Force", "patch": "apply",
	})
}

// forge NODE: records the digests that the inputs give now, as if a run had written the
// objects. Another cluster tells a stranger these digests.
func (w *world) forge(t *testing.T, a []string) {
	if w.memory == nil {
		return
	}
	theirs := newMemoryWorld(t)
	theirs.inputs = cloned(t, w.inputs)
	theirs.run(t, "apply", options{"max": {"100%"}})
	digests := map[any]any{}
	for _, l := range theirs.linesOf(t, a[0]) {
		digests[l["key"]] = l["digest"]
	}
	lines := w.linesOf(t, a[0])
	for _, l := range lines {
		if digest := digests[l["key"]]; digest != nil {
			l["digest"] = digest
		}
	}
	if lines != nil {
		w.setLines(t, a[0], lines)
	}
}

// linesOf returns the lines of an inventory. It returns nil if there is no inventory, or if
// its text isn't valid.
func (w *world) linesOf(t *testing.T, node string) (lines []map[string]any) {
	t.Helper()
	inventory := w.get(t, inventoryRef(node))
	if inventory == nil {
		return nil
	}
	data, _, _ := unstructured.NestedString(inventory.Object, "data", "resources")
	if err := json.Unmarshal([]byte(data), &lines); err != nil {
		return nil // another stranger was here
	}
	return lines
}

// entry NODE REF: adds an entry to an inventory that names a stranger's object.
func (w *world) entry(t *testing.T, a []string) {
	ref := model.ParseRef(a[1])
	if ref.Kind == model.Widget && !w.served {
		return
	}
	o := w.get(t, ref)
	if o == nil {
		return
	}
	w.addLine(t, a[0], map[string]any{
		"key": strings.ReplaceAll(fmt.Sprintf("%s/%s/%s@forged", ref.Kind, o.GetNamespace(), o.GetName()), "//", "/"), "apiVersion": o.GetAPIVersion(), "uid": string(o.GetUID()),
		"digest": "00", "creation": "WhenNeeded", "deletion": "Delete", "conflict": "Force", "patch": "apply",
	})
}

// addLine adds a line to the inventory of a node.
func (w *world) addLine(t *testing.T, node string, line map[string]any) {
	t.Helper()
	lines := w.linesOf(t, node)
	if lines == nil {
		return
	}
	for _, l := range lines {
		if l["key"] == line["key"] && l["digest"] != line["digest"] {
			return // it has an entry, and nobody can read two of one object
		}
	}
	w.setLines(t, node, append(lines, line))
}

// setLines replaces the lines of an inventory.
func (w *world) setLines(t *testing.T, node string, lines []map[string]any) {
	t.Helper()
	var text []string
	for _, l := range lines {
		b, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, string(b))
	}
	w.patch(t, inventoryRef(node), map[string]any{"data": map[string]any{"resources": "[\n" + strings.Join(text, ",\n") + "\n]"}})
}

// track NODE REF: sets a node's labels on an object, like a stranger.
func (w *world) track(t *testing.T, a []string) {
	inventory, ref := w.get(t, inventoryRef(a[0])), model.ParseRef(a[1])
	if inventory == nil || ref.Kind == model.Widget && !w.served {
		return
	}
	labels := inventory.GetLabels()
	w.patch(t, ref, metadata(map[string]any{
		"lynq.sh/hub": labels["lynq.sh/hub"], "lynq.sh/node": a[0], "lynq.sh/node-namespace": w.Namespace,
		"applyset.kubernetes.io/part-of": labels["applyset.kubernetes.io/id"],
	}, map[string]any{"lynq.sh/deletion-policy": "Delete", "lynq.sh/resource-id": "forged"}))
}

// ghost NODE: copies an inventory for a row that doesn't exist.
func (w *world) ghost(t *testing.T, a []string) {
	inventory := w.get(t, inventoryRef(a[0]))
	if inventory == nil {
		return
	}
	ghost := fresh(inventory)
	labels := ghost.GetLabels()
	labels["lynq.sh/uid"] = "ghost"
	node := model.Node{Row: "ghost", Form: labels["lynq.sh/template"]}
	labels["applyset.kubernetes.io/id"] = applySet(inventoryRef(node.Name()).Name, w.Namespace)
	ghost.SetLabels(labels)
	w.create(t, inventoryRef(node.Name()), ghost)
}

// applySet returns the id of an ApplySet whose parent is a ConfigMap (KEP-3659).
func applySet(name, namespace string) string {
	sum := sha256.Sum256([]byte(name + "." + namespace + ".ConfigMap."))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// relabel NODE HUB: gives an inventory to another hub.
func (w *world) relabel(t *testing.T, a []string) {
	w.patch(t, inventoryRef(a[0]), metadata(map[string]any{"lynq.sh/hub": a[1]}, map[string]any{"lynq.sh/hubId": a[1]}))
}

// hook NODE: records a hook of a node that creates a ClusterRoleBinding, like a stranger.
func (w *world) hook(t *testing.T, a []string) {
	inventory := w.get(t, inventoryRef(a[0]))
	if inventory == nil {
		return
	}
	manifest := w.forgedHook("forged")
	sum := sha256.Sum256([]byte(manifest))
	digest := hex.EncodeToString(sum[:])
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{digest: base64.StdEncoding.EncodeToString([]byte(manifest))}}}
	secret.SetLabels(map[string]string{"lynq.sh/record": "hooks", "lynq.sh/hub": inventory.GetLabels()["lynq.sh/hub"]})
	w.create(t, hooksRef(a[0]), secret)
	w.addLine(t, a[0], map[string]any{
		"key": "ClusterRoleBinding/" + w.binding() + "@forged", "apiVersion": "rbac.authorization.k8s.io/v1", "digest": digest,
		"creation": "WhenNeeded", "deletion": "Delete", "conflict": "Stuck", "patch": "apply", "runOn": "Delete",
	})
}

func hooksRef(node string) model.Ref {
	return model.Ref{Kind: "Secret", Namespace: model.Near, Name: "lynqhooks-" + node}
}

// forgedHook returns the record of a hook that creates a ClusterRoleBinding.
func (w *world) forgedHook(id string) string {
	return fmt.Sprintf(`{"id":%q,"apiVersion":"rbac.authorization.k8s.io/v1","timeoutSeconds":5,"manifest":`+
		`{"metadata":{"annotations":{},"labels":{},"name":%q},"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",`+
		`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},`+
		`"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"stranger"}]}}`, id, w.binding())
}

// tamper NODE: changes the record of the form's hook so that it creates a
// ClusterRoleBinding. The inventory says the same.
func (w *world) tamper(t *testing.T, a []string) {
	inventory, secret := w.get(t, inventoryRef(a[0])), w.get(t, hooksRef(a[0]))
	if inventory == nil || secret == nil {
		return
	}
	manifest := w.forgedHook("bye")
	sum := sha256.Sum256([]byte(manifest))
	digest := hex.EncodeToString(sum[:])
	w.patch(t, hooksRef(a[0]), map[string]any{"data": map[string]any{digest: base64.StdEncoding.EncodeToString([]byte(manifest))}})
	data, _, _ := unstructured.NestedString(inventory.Object, "data", "resources")
	var lines []map[string]any
	if err := json.Unmarshal([]byte(data), &lines); err != nil {
		return // another stranger was here
	}
	for _, line := range lines {
		if line["runOn"] == "Delete" {
			line["digest"], line["apiVersion"] = digest, "rbac.authorization.k8s.io/v1"
			line["key"] = "ClusterRoleBinding/" + w.binding() + "@bye"
		}
	}
	w.setLines(t, a[0], lines)
}

// serve on|off: makes the server serve Widgets, or not.
func (w *world) serve(t *testing.T, a []string) {
	served := a[0] == "on"
	if served == w.served {
		return
	}
	patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/versions/0/served","value":%t}]`, served)
	_, err := w.Dynamic.Resource(w.crd()).Patch(t.Context(), w.definition(), types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.awaitServed(t, served)
}
