package e2e_test

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/rogpeppe/go-internal/testscript"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/harness"
)

// operated is the cluster for scripts that need the kinds of the Lynq operator. Their
// existence costs every apply a request, which other scripts count.
var operated = harness.Shared{Own: true}

// TestOperatorScripts runs the scripts about the operator.
func TestOperatorScripts(t *testing.T) {
	t.Parallel()
	operatorKinds(t)
	runScripts(t, &operated, filepath.Join("testdata", "operator", "*.txtar"))
}

// operatorKinds defines the kinds of the operator.
func operatorKinds(t *testing.T) {
	t.Helper()
	env := operated.Env(t)
	crds := filepath.Join("testdata", "operator", "crds.yaml")
	env.Kubectl(t, "", "apply", "--server-side", "-f", crds)
	env.Kubectl(t, "", "wait", "--for=condition=Established", "--timeout=180s", "-f", crds)
}

// operatorKind returns the resource of an operator's kind.
func operatorKind(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: wellknown.Group, Version: "v1", Resource: plural}
}

// operator ROWS imitates the Lynq operator for the hubs and forms of the script's
// namespace, and the rows of a CSV file. It creates LynqNodes and their objects, with the
// operator's tracking, annotations and managers. It deletes nothing.
func (s *script) operator(ts *testscript.TestScript, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: operator ROWS.csv")
	}
	return operate(s.t.Context(), s.env, ts.ReadFile(args[0]))
}

// operate imitates the operator.
func operate(ctx context.Context, env *harness.Env, rows string) error {
	o, err := newOperator(env)
	if err != nil {
		return err
	}
	records, err := csv.NewReader(strings.NewReader(rows)).ReadAll()
	if err != nil {
		return err
	}
	hubs, err := o.client.Resource(operatorKind("lynqhubs")).Namespace(env.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	forms, err := o.client.Resource(operatorKind("lynqforms")).Namespace(env.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range hubs.Items {
		for j := range forms.Items {
			if text(&forms.Items[j], "spec", "hubId") != hubs.Items[i].GetName() {
				continue
			}
			for _, row := range records[1:] {
				if err := o.row(ctx, &hubs.Items[i], &forms.Items[j], variables(&hubs.Items[i], records[0], row)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func text(o *unstructured.Unstructured, fields ...string) string {
	s, _, _ := unstructured.NestedString(o.Object, fields...)
	return s
}

// variables returns the template variables of a row.
func variables(hub *unstructured.Unstructured, columns, row []string) map[string]any {
	value := func(column string) string {
		if i := slices.Index(columns, column); i >= 0 {
			return row[i]
		}
		return ""
	}
	vars := map[string]any{
		"uid":      value(text(hub, "spec", "valueMappings", "uid")),
		"activate": value(text(hub, "spec", "valueMappings", "activate")),
	}
	extra, _, _ := unstructured.NestedStringMap(hub.Object, "spec", "extraValueMappings")
	for name, column := range extra {
		vars[name] = value(column)
	}
	return vars
}

type operator struct {
	client dynamic.Interface
	mapper meta.RESTMapper
	ns     string
}

func newOperator(env *harness.Env) (*operator, error) {
	config, err := clientcmd.BuildConfigFromFlags("", env.Cluster.Kubeconfig)
	if err != nil {
		return nil, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &operator{env.Dynamic, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds)), env.Namespace}, nil
}

// row creates the LynqNode of a row and a form, and its objects.
func (o *operator) row(ctx context.Context, hub, form *unstructured.Unstructured, vars map[string]any) error {
	finalizers := o.client.Resource(operatorKind("lynqhubs")).Namespace(o.ns)
	patch := fmt.Sprintf(`{"metadata":{"finalizers":[%q]}}`, wellknown.FinalizerHub)
	if _, err := finalizers.Patch(ctx, hub.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "manager"}); err != nil {
		return err
	}
	if vars["activate"] != "1" {
		return nil
	}
	nodes := o.client.Resource(operatorKind("lynqnodes")).Namespace(o.ns)
	wanted, err := lynqNode(hub, form, vars)
	if err != nil {
		return err
	}
	node, err := nodes.Create(ctx, wanted, metav1.CreateOptions{FieldManager: "manager"})
	if apierrors.IsAlreadyExists(err) {
		if node, err = nodes.Get(ctx, wanted.GetName(), metav1.GetOptions{}); err == nil {
			node.Object["spec"] = wanted.Object["spec"]
			node, err = nodes.Update(ctx, node, metav1.UpdateOptions{FieldManager: "manager"})
		}
	}
	if err != nil {
		return err
	}
	applied := []any{}
	for _, r := range resources(node) {
		if err := o.resource(ctx, node, r, vars); err != nil {
			return fmt.Errorf("%s: %w", r["id"], err)
		}
		kind, _, _ := unstructured.NestedString(r, "spec", "kind")
		applied = append(applied, fmt.Sprintf("%s/%s/%s@%s", kind, cmp.Or(str(r, "targetNamespace"), o.ns), str(r, "nameTemplate"), r["id"]))
	}
	now := metav1.Now().UTC().Format("2006-01-02T15:04:05Z")
	node.Object["status"] = map[string]any{
		"observedGeneration": node.GetGeneration(), "desiredResources": int64(len(applied)), "readyResources": int64(len(applied)),
		"appliedResources": applied, "lastFullReconcileAt": now,
		"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Reconciled", "message": "all resources are ready", "lastTransitionTime": now}},
	}
	_, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{FieldManager: "manager"})
	return err
}

func str(m map[string]any, field string) string {
	s, _ := m[field].(string)
	return s
}

// lynqNode returns the LynqNode that the hub's controller makes from a row. It renders
// names, labels and annotations, but no namespaces and manifests.
func lynqNode(hub, form *unstructured.Unstructured, vars map[string]any) (*unstructured.Unstructured, error) {
	vars = maps.Clone(vars)
	vars["hubId"], vars["templateRef"] = hub.GetName(), form.GetName()
	extra, err := json.Marshal(vars)
	if err != nil {
		return nil, err
	}
	uid := str(vars, "uid")
	n := newObject(wellknown.APIVersion, wellknown.KindNode, uid+"-"+form.GetName())
	n.SetNamespace(form.GetNamespace())
	n.SetFinalizers([]string{wellknown.FinalizerNode})
	n.SetLabels(map[string]string{wellknown.LabelHub: hub.GetName(), wellknown.LabelUID: uid})
	n.SetAnnotations(map[string]string{
		wellknown.AnnotationHubID: hub.GetName(), wellknown.AnnotationActivate: "1", wellknown.AnnotationExtra: string(extra), "lynq.sh/hostOrUrl": "",
		wellknown.AnnotationTemplateGeneration: strconv.FormatInt(form.GetGeneration(), 10),
		wellknown.AnnotationRolloutUpdateStart: "2026-03-04T05:06:07Z",
	})
	n.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(hub, schema.GroupVersionKind{Group: wellknown.Group, Version: "v1", Kind: wellknown.KindHub})})
	spec, _, _ := unstructured.NestedMap(form.Object, "spec")
	delete(spec, "hubId")
	delete(spec, "rollout")
	n.Object["spec"] = spec
	for _, r := range resources(n) {
		for _, field := range []string{"nameTemplate", "labelsTemplate", "annotationsTemplate"} {
			if v, said := r[field]; said {
				if r[field], err = rendered(v, vars); err != nil {
					return nil, err
				}
			}
		}
	}
	spec["uid"], spec["templateRef"] = uid, form.GetName()
	return n, nil
}

// resources returns the resources of a LynqNode. Callers may change them in place.
func resources(node *unstructured.Unstructured) []map[string]any {
	spec, _ := node.Object["spec"].(map[string]any)
	var all []map[string]any
	for _, section := range slices.Sorted(maps.Keys(spec)) {
		list, _ := spec[section].([]any)
		for _, item := range list {
			if r, ok := item.(map[string]any); ok {
				all = append(all, r)
			}
		}
	}
	return all
}

// rendered returns a value with executed templates.
func rendered(v any, vars map[string]any) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		t, err := template.New("").Option("missingkey=error").Parse(v)
		if err != nil {
			return nil, err
		}
		var b strings.Builder
		err = t.Execute(&b, vars)
		return b.String(), err
	case []any:
		for i := range v {
			if v[i], err = rendered(v[i], vars); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = rendered(v[k], vars); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// resource writes one object like the controller of LynqNodes.
func (o *operator) resource(ctx context.Context, node *unstructured.Unstructured, r, vars map[string]any) error {
	obj, err := o.object(node, r, vars)
	if err != nil {
		return err
	}
	mapping, err := o.mapper.RESTMapping(obj.GroupVersionKind().GroupKind(), obj.GroupVersionKind().Version)
	if err != nil {
		return err
	}
	client := dynamic.ResourceInterface(o.client.Resource(mapping.Resource))
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		client = o.client.Resource(mapping.Resource).Namespace(obj.GetNamespace())
	}
	there, err := client.Get(ctx, obj.GetName(), metav1.GetOptions{})
	exists := err == nil
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if exists && r["creationPolicy"] == "Once" && there.GetAnnotations()[wellknown.AnnotationCreatedOnce] == "true" {
		return nil
	}
	if exists && there.GetLabels()[wellknown.LabelOrphaned] == "true" {
		const unmark = `{"metadata":{"labels":{"lynq.sh/orphaned":null},"annotations":{"lynq.sh/orphaned-at":null,"lynq.sh/orphaned-reason":null}}}`
		if there, err = client.Patch(ctx, obj.GetName(), types.MergePatchType, []byte(unmark), metav1.PatchOptions{FieldManager: "manager"}); err != nil {
			return err
		}
	}
	switch strategy := str(r, "patchStrategy"); {
	case strategy == "apply":
		_, err = client.Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "lynq-operator", Force: r["conflictPolicy"] == "Force"})
	case !exists:
		_, err = client.Create(ctx, obj, metav1.CreateOptions{FieldManager: "manager"})
	case strategy == "merge":
		var body []byte
		if body, err = obj.MarshalJSON(); err == nil {
			_, err = client.Patch(ctx, obj.GetName(), types.MergePatchType, body, metav1.PatchOptions{FieldManager: "manager"})
		}
	default:
		obj.SetResourceVersion(there.GetResourceVersion())
		_, err = client.Update(ctx, obj, metav1.UpdateOptions{FieldManager: "manager"})
	}
	return err
}

// object returns a resource as the controller of LynqNodes renders it, with its metadata.
func (o *operator) object(node *unstructured.Unstructured, r, vars map[string]any) (*unstructured.Unstructured, error) {
	spec, _, _ := unstructured.NestedMap(r, "spec")
	obj := &unstructured.Unstructured{Object: spec}
	obj.SetName(cmp.Or(str(r, "nameTemplate"), obj.GetName()))
	target := cmp.Or(str(r, "targetNamespace"), o.ns)
	obj.SetNamespace(target)
	labels, _, _ := unstructured.NestedStringMap(r, "labelsTemplate")
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	annotations, _, _ := unstructured.NestedStringMap(r, "annotationsTemplate")
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[wellknown.AnnotationDeletionPolicy] = str(r, "deletionPolicy")
	track := func() {
		labels[wellknown.LabelNode], labels[wellknown.LabelNodeNamespace] = node.GetName(), node.GetNamespace()
	}
	if target != o.ns || obj.GetKind() == "Namespace" {
		track()
	}
	obj.SetLabels(labels)
	obj.SetAnnotations(annotations)
	content, err := rendered(obj.Object, vars)
	if err != nil {
		return nil, err
	}
	obj.Object, _ = content.(map[string]any)
	labels, annotations = obj.GetLabels(), obj.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if r["creationPolicy"] == "Once" {
		annotations[wellknown.AnnotationCreatedOnce] = "true"
	}
	if obj.GetNamespace() != o.ns || obj.GetKind() == "Namespace" || r["deletionPolicy"] == "Retain" {
		track()
	} else {
		obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(node, schema.GroupVersionKind{Group: wellknown.Group, Version: "v1", Kind: wellknown.KindNode})})
	}
	annotations["lynq.sh/applied-hash"], annotations["lynq.sh/apply-start-time"] = "0123456789abcdef", "2026-03-04T05:06:07.000000008Z"
	obj.SetLabels(labels)
	obj.SetAnnotations(annotations)
	return obj, nil
}
