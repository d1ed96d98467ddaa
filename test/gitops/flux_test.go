package gitops

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/kustomize"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/jsondiff"
	"github.com/fluxcd/pkg/ssa/normalize"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lynqctl/lynqctl/test/harness"
)

const fluxGroup = "kustomize.toolkit.fluxcd.io"

// flux does what kustomize-controller does, with the same libraries. It reconciles
// Kustomizations in the order of their dependencies.
type flux struct {
	*repository
	client client.Client
	poller *polling.StatusPoller
	// inventory has the objects that each Kustomization applied.
	inventory map[string][]*unstructured.Unstructured
	// substitute are variables for spec.postBuild.
	substitute map[string]string
}

func newFlux(t *testing.T, env *harness.Env) *flux {
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
	return &flux{
		repository: newRepository(t, env.Namespace), client: c,
		poller:    polling.NewStatusPoller(c, c.RESTMapper(), polling.Options{}),
		inventory: map[string][]*unstructured.Unstructured{},
	}
}

func (f *flux) manager() *ssa.ResourceManager {
	return ssa.NewResourceManager(f.client, f.poller, ssa.Owner{Field: "kustomize-controller", Group: fluxGroup})
}

// reconcile brings the cluster to the state of the tree's Kustomizations, and returns the
// action on each object.
func (f *flux) reconcile(t *testing.T) map[string]ssa.Action {
	t.Helper()
	wanted := f.apps(t, "Kustomization")
	done := map[string]ssa.Action{}
	for _, name := range slices.Sorted(maps.Keys(f.inventory)) {
		if wanted[name] == nil {
			f.prune(t, name, f.inventory[name], done)
			delete(f.inventory, name)
		}
	}
	ready := map[string]bool{}
	for len(ready) < len(wanted) {
		before := len(ready)
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			if !ready[name] && dependenciesIn(ready, wanted[name]) {
				f.apply(t, name, wanted[name], done)
				ready[name] = true
			}
		}
		if len(ready) == before {
			t.Fatalf("these depend on what doesn't exist: %v", wanted)
		}
	}
	return done
}

func dependenciesIn(ready map[string]bool, k *unstructured.Unstructured) bool {
	needs, _, _ := unstructured.NestedSlice(k.Object, "spec", "dependsOn")
	return !slices.ContainsFunc(needs, func(n any) bool {
		need, _ := n.(map[string]any)
		name, _ := need["name"].(string)
		return !ready[name]
	})
}

// apply applies a Kustomization, which must succeed.
func (f *flux) apply(t *testing.T, name string, k *unstructured.Unstructured, done map[string]ssa.Action) {
	t.Helper()
	text, _, _ := unstructured.NestedString(k.Object, "spec", "timeout")
	timeout, err := time.ParseDuration(cmp.Or(text, "0s"))
	if err != nil {
		t.Fatal(err)
	}
	ready, err := f.try(t, name, k, timeout, done)
	if err == nil {
		err = ready()
	}
	if err != nil {
		t.Fatalf("Kustomization %s: %v", name, err)
	}
}

// try is KustomizationReconciler.reconcile: build, apply, prune. ready waits for the
// objects.
func (f *flux) try(t *testing.T, name string, k *unstructured.Unstructured, timeout time.Duration, done map[string]ssa.Action) (ready func() error, err error) {
	t.Helper()
	all := f.build(t, k)
	m := f.manager()
	m.SetOwnerLabels(all, name, k.GetNamespace())
	if err := normalize.UnstructuredList(all); err != nil {
		t.Fatal(err)
	}
	changes, err := m.ApplyAllStaged(t.Context(), all, applyOptions(t, k))
	if err != nil {
		return nil, err
	}
	waitFor := ssa.NewChangeSet()
	for _, entry := range changes.Entries {
		done[entry.Subject] = entry.Action
		if entry.Action != ssa.SkippedAction {
			waitFor.Add(entry)
		}
	}
	var gone []*unstructured.Unstructured
	for _, o := range f.inventory[name] {
		if !slices.ContainsFunc(all, func(n *unstructured.Unstructured) bool { return sameObject(o, n) }) {
			gone = append(gone, o)
		}
	}
	f.inventory[name] = all
	f.prune(t, name, gone, done)
	if wait, _, _ := unstructured.NestedBool(k.Object, "spec", "wait"); wait {
		return func() error {
			return m.WaitForSet(waitFor.ToObjMetadataSet(), ssa.WaitOptions{Interval: 50 * time.Millisecond, Timeout: timeout})
		}, nil
	}
	return func() error { return nil }, nil
}

func sameObject(a, b *unstructured.Unstructured) bool {
	return a.GroupVersionKind() == b.GroupVersionKind() && a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName()
}

// build is KustomizationReconciler.generate and build.
func (f *flux) build(t *testing.T, k *unstructured.Unstructured) []*unstructured.Unstructured {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(f.dir)); err != nil {
		t.Fatal(err)
	}
	folder, _, _ := unstructured.NestedString(k.Object, "spec", "path")
	folder = filepath.Join(root, folder)
	if len(f.substitute) > 0 {
		k = k.DeepCopy()
		if err := unstructured.SetNestedStringMap(k.Object, f.substitute, "spec", "postBuild", "substitute"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := kustomize.NewGenerator(root, *k).WriteFile(folder); err != nil {
		t.Fatal(err)
	}
	m, err := kustomize.SecureBuild(root, folder, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range m.Resources() {
		out, err := kustomize.SubstituteVariables(t.Context(), f.client, *k, r)
		if err != nil {
			t.Fatal(err)
		}
		if out != nil {
			if _, err := m.Replace(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	text, err := m.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, text)
}

// applyOptions returns the options of KustomizationReconciler.apply.
func applyOptions(t *testing.T, k *unstructured.Unstructured) ssa.ApplyOptions {
	t.Helper()
	o := ssa.DefaultApplyOptions()
	o.ExclusionSelector = map[string]string{fluxGroup + "/reconcile": "disabled", fluxGroup + "/ssa": "Ignore"}
	o.IfNotPresentSelector = map[string]string{fluxGroup + "/ssa": "IfNotPresent"}
	o.ForceSelector = map[string]string{fluxGroup + "/force": "enabled"}
	o.Cleanup = ssa.ApplyCleanupOptions{
		Annotations: []string{"kubectl.kubernetes.io/last-applied-configuration"},
		FieldManagers: []ssa.FieldManager{
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationApply},
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: "before-first-apply", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: "kustomize-controller", OperationType: metav1.ManagedFieldsOperationUpdate},
		},
		Exclusions: map[string]string{fluxGroup + "/ssa": "Merge"},
	}
	rules, _, err := unstructured.NestedSlice(k.Object, "spec", "ignore")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		rule, _ := r.(map[string]any)
		paths, _, err := unstructured.NestedStringSlice(rule, "paths")
		if err != nil {
			t.Fatal(err)
		}
		annotations, _, err := unstructured.NestedString(rule, "target", "annotationSelector")
		if err != nil {
			t.Fatal(err)
		}
		o.DriftIgnoreRules = append(o.DriftIgnoreRules, jsondiff.IgnoreRule{Paths: paths, Selector: &jsondiff.Selector{AnnotationSelector: annotations}})
	}
	return o
}

// prune is deleteObjects of the controller.
func (f *flux) prune(t *testing.T, name string, gone []*unstructured.Unstructured, done map[string]ssa.Action) {
	t.Helper()
	m := f.manager()
	changes, err := m.DeleteAll(t.Context(), gone, ssa.DeleteOptions{
		PropagationPolicy: metav1.DeletePropagationBackground,
		Inclusions:        m.GetOwnerLabels(name, "flux-system"),
		Exclusions:        map[string]string{fluxGroup + "/prune": "disabled", fluxGroup + "/reconcile": "disabled", fluxGroup + "/ssa": "Ignore"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range changes.Entries {
		done[entry.Subject] = entry.Action
	}
}

func TestFlux(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"kustomizations", "ordered-kustomizations"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			env := cluster.Env(t)
			f := newFlux(t, env)
			cleanRooms(t, f.client, env.Namespace, "acme", "beta")
			flags := []string{"--target=flux", "--emit-apps=" + kind, "--repo-path=tree"}

			f.rows(t, "acme,1,basic,v1", "beta,1,${plan},v1")
			f.renderTree(t, flags...)
			f.reconcile(t)
			env.Equal(t, "configmap/beta-settings", ".data.plan", "${plan}")
			if kind == "ordered-kustomizations" {
				inOrder(t, env, "acme")
			}

			// The second run applies nothing.
			before := versions(t, env)
			for subject, action := range f.reconcile(t) {
				if action != ssa.UnchangedAction && action != ssa.SkippedAction {
					t.Errorf("the second time %s is %s", subject, action)
				}
			}
			unchanged(t, before, versions(t, env))

			// Ignored fields stay, while the rest changes.
			tamper(t, env)
			f.rows(t, "acme,1,pro,v2", "beta,0,basic,v1")
			f.renderTree(t, flags...)
			f.reconcile(t)
			afterChange(t, env)
			env.Equal(t, "deployment/acme-app", ".spec.template.spec.containers[1].image", "sidecar:1") // a JSON pointer can't name it
			retained(t, env)
		})
	}
}

// TestFluxSubstitutes wants a Kustomization's variables to leave the values of rows alone.
func TestFluxSubstitutes(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	f := newFlux(t, env)
	cleanRooms(t, f.client, env.Namespace, "acme")
	f.substitute = map[string]string{"plan": "substituted"}
	f.rows(t, "acme,1,${plan} and $plan,v1")
	f.renderTree(t, "--target=flux", "--emit-apps=kustomizations", "--repo-path=tree")
	f.reconcile(t)
	env.Equal(t, "configmap/acme-settings", ".data.plan", "${plan} and $plan")
	env.Equal(t, "configmap/acme-merged", ".data.plan", "${plan} and $plan")

	// Without the annotation, they would replace them, so the test can fail.
	f.renderTree(t, "--target=plain", "--emit-apps=none")
	text := ""
	for _, o := range f.build(t, f.kustomizationOf("acme-web")) {
		if o.GetName() == "acme-merged" {
			text, _, _ = unstructured.NestedString(o.Object, "data", "plan")
		}
	}
	if text != "substituted and $plan" {
		t.Errorf("without the annotation, the text becomes %q", text)
	}
}

// kustomizationOf returns a Kustomization as a person would write it.
func (f *flux) kustomizationOf(node string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{"name": node, "namespace": "flux-system"},
		"spec":     map[string]any{"path": "./tree/" + node, "prune": true},
	}}
}

// cleanRooms deletes the namespaces of the form when the test ends.
func cleanRooms(t *testing.T, c client.Client, namespace string, uids ...string) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		for _, uid := range uids {
			room := &unstructured.Unstructured{}
			room.SetAPIVersion("v1")
			room.SetKind("Namespace")
			room.SetName(namespace + "-" + uid)
			if err := client.IgnoreNotFound(c.Delete(ctx, room)); err != nil {
				t.Logf("namespace %s stays: %v", room.GetName(), err)
			}
		}
	})
}
