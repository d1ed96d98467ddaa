package gitops

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/common"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/resource"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/tracing"
	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/fluxcd/pkg/kustomize"
	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/lynqctl/lynqctl/test/harness"
)

// trackingID is the annotation by which Argo CD recognizes an Application's objects.
const trackingID = "argocd.argoproj.io/tracking-id"

// argo does what Argo CD does around its gitops-engine. It builds the folder of an
// Application, finds its live objects, and syncs until that is done.
type argo struct {
	*repository
	config *rest.Config
	client client.Client
	kinds  map[schema.GroupVersionKind]bool // of everything that was ever applied
}

func newArgo(t *testing.T, env *harness.Env) *argo {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", env.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &argo{repository: newRepository(t, env.Namespace), config: config, client: c, kinds: map[schema.GroupVersionKind]bool{}}
}

// sync syncs one Application successfully. Without an Application, it prunes all of its
// objects. It returns the messages for each object, and the waves in their order.
func (a *argo) sync(t *testing.T, name string, app *unstructured.Unstructured) (messages map[string]string, waves []int) {
	t.Helper()
	phase, message, messages, waves := a.try(t, name, app, -1)
	if !phase.Successful() {
		t.Fatalf("Application %s: %s %s %v", name, phase, message, messages)
	}
	return messages, waves
}

// try syncs one Application until that ends, or has taken that many steps. -1 means no
// limit.
func (a *argo) try(t *testing.T, name string, app *unstructured.Unstructured, steps int) (phase common.OperationPhase, message string, messages map[string]string, waves []int) {
	t.Helper()
	var targets []*unstructured.Unstructured
	var options []string
	if app != nil {
		targets = a.build(t, name, app)
		options, _, _ = unstructured.NestedStringSlice(app.Object, "spec", "syncPolicy", "syncOptions")
		for _, o := range targets {
			a.kinds[o.GroupVersionKind()] = true
		}
		if slices.Contains(options, "RespectIgnoreDifferences=true") {
			targets = a.respect(t, app, targets, a.live(t, name, targets))
		}
	}
	phase, started := common.OperationRunning, metav1.Now()
	var results []common.ResourceSyncResult
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		live := a.live(t, name, targets)
		s, cleanup, err := sync.NewSyncContext("revision", sync.Reconcile(targets, live, "", a), a.config, a.config,
			&kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}, "",
			sync.WithLogr(logr.Discard()), sync.WithInitialState(phase, message, results, started),
			sync.WithOperationSettings(false, true, false, false), sync.WithPruneLast(slices.Contains(options, "PruneLast=true")),
			sync.WithManifestValidation(false), // the server validates, and reading its schemas takes most of the time
			sync.WithServerSideApplyManager("argocd-controller"),
			sync.WithSyncWaveHook(func(_ common.SyncPhase, wave int, _ bool) error { waves = append(waves, wave); return nil }))
		if err != nil {
			return false, err
		}
		defer cleanup()
		s.Sync()
		phase, message, results = s.GetState()
		steps--
		return phase.Completed() || steps == 0, nil
	})
	if err != nil {
		t.Fatalf("Application %s: %v: %s %s", name, err, phase, message)
	}
	messages = map[string]string{}
	for _, r := range results {
		messages[r.ResourceKey.Kind+"/"+r.ResourceKey.Name] = r.Message
	}
	return phase, message, messages, waves
}

// outOfSync reports whether Argo CD would sync an Application automatically.
func (a *argo) outOfSync(t *testing.T, name string, app *unstructured.Unstructured) bool {
	t.Helper()
	targets := a.build(t, name, app)
	for _, o := range targets {
		a.kinds[o.GroupVersionKind()] = true
	}
	found := sync.Reconcile(targets, a.live(t, name, targets), "", a)
	if slices.Contains(found.Live, nil) || slices.Contains(found.Target, nil) {
		return true
	}
	all, err := diff.DiffArray(found.Target, found.Live, diff.WithLogr(logr.Discard()))
	if err != nil {
		t.Fatal(err)
	}
	return all.Modified
}

// syncAll syncs all Applications of the tree.
func (a *argo) syncAll(t *testing.T) (waves map[string][]int) {
	t.Helper()
	waves = map[string][]int{}
	apps := a.apps(t, "Application")
	for _, name := range slices.Sorted(maps.Keys(apps)) {
		_, waves[name] = a.sync(t, name, apps[name])
	}
	return waves
}

// IsNamespaced implements kube.ResourceInfoProvider.
func (a *argo) IsNamespaced(gk schema.GroupKind) (bool, error) {
	m, err := a.client.RESTMapper().RESTMapping(gk)
	if err != nil {
		return false, err
	}
	return m.Scope.Name() == meta.RESTScopeNameNamespace, nil
}

// build returns the repository server's objects for an Application, with their tracking.
func (a *argo) build(t *testing.T, name string, app *unstructured.Unstructured) []*unstructured.Unstructured {
	t.Helper()
	folder, _, _ := unstructured.NestedString(app.Object, "spec", "source", "path")
	m, err := kustomize.Build(filesys.MakeFsOnDisk(), filepath.Join(a.dir, folder))
	if err != nil {
		t.Fatal(err)
	}
	text, err := m.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	targets := objects(t, text)
	for _, o := range targets {
		annotations := o.GetAnnotations()
		annotations[trackingID] = fmt.Sprintf("%s:%s/%s:%s/%s", name, o.GroupVersionKind().Group, o.GetKind(), o.GetNamespace(), o.GetName())
		o.SetAnnotations(annotations)
	}
	return targets
}

// live returns the objects with an Application's tracking, and those that it wants and that
// exist.
func (a *argo) live(t *testing.T, name string, targets []*unstructured.Unstructured) map[kube.ResourceKey]*unstructured.Unstructured {
	t.Helper()
	live := map[kube.ResourceKey]*unstructured.Unstructured{}
	for _, target := range targets {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(target.GroupVersionKind())
		switch err := a.client.Get(t.Context(), client.ObjectKeyFromObject(target), o); {
		case err == nil:
			live[kube.GetResourceKey(o)] = o
		case !apierrors.IsNotFound(err):
			t.Fatal(err)
		}
	}
	for kind := range a.kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		where := []client.ListOption{}
		if namespaced, err := a.IsNamespaced(kind.GroupKind()); err != nil {
			t.Fatal(err)
		} else if namespaced && kind.Kind != "ConfigMap" { // one of the form's ConfigMaps is in its own namespace
			where = append(where, client.InNamespace(a.namespace))
		}
		if err := a.client.List(t.Context(), list, where...); err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			if id := o.GetAnnotations()[trackingID]; strings.HasPrefix(id, name+":") && strings.Contains(id, a.namespace) {
				live[kube.GetResourceKey(o)] = o
			}
		}
	}
	return live
}

// respect does what Argo CD's controller does for RespectIgnoreDifferences before it calls
// the engine (normalizeTargetResources). Ignored fields get their live values before apply.
func (a *argo) respect(t *testing.T, app *unstructured.Unstructured, targets []*unstructured.Unstructured, live map[kube.ResourceKey]*unstructured.Unstructured) []*unstructured.Unstructured {
	t.Helper()
	rules, _, err := unstructured.NestedSlice(app.Object, "spec", "ignoreDifferences")
	if err != nil {
		t.Fatal(err)
	}
	patched := make([]*unstructured.Unstructured, len(targets))
	for i, target := range targets {
		patched[i] = target
		l := live[kube.GetResourceKey(target)]
		if l == nil {
			continue
		}
		typed, err := scheme.Scheme.New(target.GroupVersionKind())
		if err != nil {
			t.Fatal(err)
		}
		lookup, err := strategicpatch.NewPatchMetaFromStruct(typed)
		if err != nil {
			t.Fatal(err)
		}
		whole, ignored := encode(t, l.Object), encode(t, ignore(t, rules, l))
		patch, err := strategicpatch.CreateThreeWayMergePatch(whole, whole, ignored, lookup, true)
		if err != nil {
			t.Fatal(err)
		}
		merged, err := strategicpatch.StrategicMergePatch(encode(t, ignore(t, rules, target)), patch, typed)
		if err != nil {
			t.Fatal(err)
		}
		patched[i] = &unstructured.Unstructured{}
		if err := patched[i].UnmarshalJSON(merged); err != nil {
			t.Fatal(err)
		}
	}
	return patched
}

// ignore returns an object without the fields that rules ignore, like Argo CD's normalizer.
func ignore(t *testing.T, rules []any, o *unstructured.Unstructured) map[string]any {
	t.Helper()
	text := encode(t, o.Object)
	for _, r := range rules {
		rule, _ := r.(map[string]any)
		group, _, _ := unstructured.NestedString(rule, "group")
		if group != o.GroupVersionKind().Group || rule["kind"] != o.GetKind() {
			continue
		}
		pointers, _, _ := unstructured.NestedStringSlice(rule, "jsonPointers")
		for _, p := range pointers {
			patch, err := jsonpatch.DecodePatch(encode(t, []any{map[string]any{"op": "remove", "path": p}}))
			if err != nil {
				t.Fatal(err)
			}
			if without, err := patch.Apply(text); err == nil { // otherwise the field doesn't exist
				text = without
			}
		}
		expressions, _, _ := unstructured.NestedStringSlice(rule, "jqPathExpressions")
		for _, e := range expressions {
			text = encode(t, deleted(t, e, decode(t, text)))
		}
	}
	return decode(t, text)
}

// deleted returns an object without the results of a jq expression.
func deleted(t *testing.T, expression string, o map[string]any) map[string]any {
	t.Helper()
	query, err := gojq.Parse("del(" + expression + ")")
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	out, _ := query.Run(o).Next()
	without, ok := out.(map[string]any)
	if !ok {
		t.Fatalf("%s: %v", expression, out)
	}
	return without
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestArgo(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	a := newArgo(t, env)
	cleanRooms(t, a.client, env.Namespace, "acme", "beta")
	flags := []string{"--target=argo", "--emit-apps=applications", "--repo-url=https://git.example/tenants", "--repo-path=tree"}

	a.rows(t, "acme,1,basic,v1", "beta,1,basic,v1")
	a.renderTree(t, flags...)
	if waves := a.syncAll(t)["acme-web"]; !slices.Equal(waves, []int{0, 1, 2}) {
		t.Errorf("the waves were %v", waves)
	}
	inOrder(t, env, "acme")

	// The second sync changes only the manager of a password: the first one applied
	// stringData, and later ones apply data. The third sync changes nothing.
	content, before := contents(t, env), versions(t, env)
	a.syncAll(t)
	after := versions(t, env)
	for _, secret := range []string{"secrets/acme-login", "secrets/beta-login"} {
		delete(before, secret)
	}
	unchanged(t, before, after)
	a.syncAll(t)
	unchanged(t, after, versions(t, env))
	if changed := cmp.Diff(content, contents(t, env)); changed != "" {
		t.Error(changed)
	}

	// Ignored fields stay, while the rest changes.
	tamper(t, env)
	a.rows(t, "acme,1,pro,v2", "beta,0,basic,v1")
	a.renderTree(t, flags...)
	a.syncAll(t)
	afterChange(t, env)
	env.Equal(t, "deployment/acme-app", ".spec.template.spec.containers[1].image", "sidecar:theirs")
	replaced := env.Get(t, "configmap/acme-replaced")
	if _, there, _ := unstructured.NestedString(replaced.Object, "data", "added"); there {
		t.Error("what others added to the replaced ConfigMap is still there")
	}

	// The Application of beta is gone. Its objects leave like pruned ones, and like those
	// of a deleted Application.
	if a.apps(t, "Application")["beta-web"] != nil {
		t.Fatal("the Application of beta is still there")
	}
	messages, _ := a.sync(t, "beta-web", nil)
	if messages["PersistentVolumeClaim/beta-data"] != "ignored (no prune)" {
		t.Errorf("%v", messages)
	}
	retained(t, env)
	if claim := env.Get(t, "persistentvolumeclaim/beta-data"); !resource.HasAnnotationOption(claim, common.AnnotationSyncOptions, "Delete=false") {
		t.Error("the claim would go with its Application")
	}
}

// TestArgoTakesOver wants Argo CD to take over objects of others, as lynqctl warns for
// conflictPolicy Stuck. The content of objects that are created once stays.
func TestArgoTakesOver(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	a := newArgo(t, env)
	cleanRooms(t, a.client, env.Namespace, "acme")
	for _, theirs := range []string{
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: acme-settings}, data: {plan: theirs}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: acme-merged}, data: {plan: theirs}}",
		"{apiVersion: v1, kind: Service, metadata: {name: acme-front}, spec: {selector: {app: theirs}, ports: [{port: 80}]}}",
	} {
		env.Kubectl(t, theirs, "apply", "--server-side", "--field-manager=others", "-f", "-")
	}
	a.rows(t, "acme,1,pro,v1")
	a.renderTree(t, "--target=argo", "--emit-apps=applications", "--repo-url=https://git.example/tenants", "--repo-path=tree")
	a.syncAll(t)
	env.Equal(t, "configmap/acme-settings", ".data.plan", "theirs")
	env.Equal(t, "configmap/acme-merged", ".data.plan", "pro")
	env.Equal(t, "service/acme-front", ".spec.selector.app", "acme")
}
