package robust_test

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// The plural names of the Lynq operator's kinds.
const (
	operatorHubs  = "lynqhubs"
	operatorForms = "lynqforms"
	operatorNodes = "lynqnodes"
)

const operatorAPI = "operator.lynq.sh/v1"

func operatorKind(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "operator.lynq.sh", Version: "v1", Resource: plural}
}

// operate HUB: gives the Lynq operator a hub with its forms. The operator has created
// LynqNodes from its rows, and their objects with its owners, labels and annotations. It
// has stopped since.
func (w *world) operate(t *testing.T, a []string) {
	hub := w.inputs.Hub(a[0])
	if hub == nil {
		return
	}
	w.defineOperator(t)
	owner := w.operatorObject(t, operatorHubs, "LynqHub", hub.Name, map[string]any{
		"source": map[string]any{"type": "mysql", "mysql": map[string]any{"host": "db.example.com", "database": "crm", "table": hub.Name}},
	}, metav1.ObjectMeta{Finalizers: []string{"lynq.sh/hub-finalizer"}})
	for _, form := range hub.Forms {
		w.operatorObject(t, operatorForms, "LynqForm", form.Name, map[string]any{"hubId": hub.Name}, metav1.ObjectMeta{})
		for _, row := range hub.Rows {
			if row.Active {
				w.operateNode(t, owner, form, row)
			}
		}
	}
}

// defineOperator defines the kinds of the operator that the server lacks.
func (w *world) defineOperator(t *testing.T) {
	for plural, kind := range map[string]string{operatorHubs: "LynqHub", operatorForms: "LynqForm"} {
		name := plural + ".operator.lynq.sh"
		if _, err := w.Dynamic.Resource(w.crd()).Get(t.Context(), name, metav1.GetOptions{}); err == nil {
			continue
		}
		w.createAll(t, fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s}
spec:
  group: operator.lynq.sh
  scope: Namespaced
  names: {plural: %s, singular: %s, kind: %s, listKind: %sList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`, name, plural, strings.ToLower(kind), kind, kind))
	}
}

// operatorObject creates an object of the operator, unless it exists.
func (w *world) operatorObject(t *testing.T, plural, kind, name string, spec map[string]any, meta metav1.ObjectMeta) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": operatorAPI, "kind": kind, "spec": spec}}
	o.SetName(name)
	o.SetNamespace(w.Namespace)
	o.SetLabels(meta.Labels)
	o.SetFinalizers(meta.Finalizers)
	o.SetOwnerReferences(meta.OwnerReferences)
	client := w.Dynamic.Resource(operatorKind(plural)).Namespace(w.Namespace)
	made, err := client.Create(t.Context(), o, metav1.CreateOptions{FieldManager: "manager"})
	if apierrors.IsAlreadyExists(err) {
		made, err = client.Get(t.Context(), name, metav1.GetOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func controlledBy(o *unstructured.Unstructured) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(o, o.GroupVersionKind())}
}

// operateNode creates the LynqNode of a row and a form, and its objects. The operator has
// no hooks, and deletes no object when its work is done.
func (w *world) operateNode(t *testing.T, hub *unstructured.Unstructured, form model.Form, row model.Row) {
	rendered := model.Inputs{{Name: hub.GetName(), Rows: []model.Row{row}, Forms: []model.Form{form}}}.Rendered()
	spec := map[string]any{"uid": row.UID, "templateRef": form.Name}
	for _, r := range rendered {
		section, content := w.operated(t, r, row)
		entry := map[string]any{
			"id": r.Resource.ID, "nameTemplate": w.wide(r.Ref.Kind, r.Ref.Name), "spec": content.Object,
			"creationPolicy": "WhenNeeded", "deletionPolicy": r.Resource.Deletion, "conflictPolicy": "Stuck", "patchStrategy": "apply",
		}
		if r.Resource.Far {
			entry["targetNamespace"] = w.namespaces[model.Far]
		}
		list, _ := spec[section].([]any)
		spec[section] = append(list, entry)
	}
	node := w.operatorObject(t, operatorNodes, "LynqNode", row.UID+"-"+form.Name, spec, metav1.ObjectMeta{
		Labels: map[string]string{"lynq.sh/hub": hub.GetName(), "lynq.sh/uid": row.UID}, Finalizers: []string{"lynqnode.operator.lynq.sh/finalizer"},
		OwnerReferences: controlledBy(hub),
	})
	for _, r := range rendered {
		_, o := w.operated(t, r, row)
		w.operateObject(t, node, r, o)
	}
}

// operated returns the content of an object, and its list in the LynqNode.
func (w *world) operated(t *testing.T, r model.Rendered, row model.Row) (section string, o *unstructured.Unstructured) {
	section, text := w.manifest(r.Resource)
	text = strings.NewReplacer("{{ .plan }}", row.Columns["plan"], "{{ .uid }}", row.UID).Replace(text)
	o = &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return section, o
}

// operateObject applies an object of a LynqNode. An object that can't have an owner, or
// that the LynqNode leaves behind, has labels.
func (w *world) operateObject(t *testing.T, node *unstructured.Unstructured, r model.Rendered, o *unstructured.Unstructured) {
	o.SetName(w.wide(r.Ref.Kind, r.Ref.Name))
	o.SetNamespace(w.namespaces[r.Ref.Namespace])
	labels := map[string]string{"tenant": node.GetLabels()["lynq.sh/uid"]}
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["lynq.sh/deletion-policy"], annotations["lynq.sh/applied-hash"] = r.Resource.Deletion, "0123456789abcdef"
	if r.Ref.Namespace != model.Near || r.Resource.Deletion == model.Retain {
		labels["lynq.sh/node"], labels["lynq.sh/node-namespace"] = node.GetName(), node.GetNamespace()
	} else {
		o.SetOwnerReferences(controlledBy(node))
	}
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
	if _, err := w.client(r.Ref).Apply(t.Context(), o.GetName(), o, metav1.ApplyOptions{FieldManager: "lynq-operator", Force: true}); err != nil {
		t.Fatal(err)
	}
}
