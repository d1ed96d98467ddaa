package harness_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

var cluster harness.Shared

const configMap = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  colour: green
`

func TestGetEqualOwners(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	env.Absent(t, "configmap/settings")
	env.Kubectl(t, configMap, "apply", "--server-side", "--field-manager=one", "-f", "-")
	env.Equal(t, "configmap/settings", ".data.colour", "green")
	env.Equal(t, "configmaps/settings", ".data.nothing", "")
	env.Owners(t, "configmap/settings", ".data.colour", "one Apply")
	env.Equal(t, "namespace/"+env.Namespace, ".status.phase", "Active")
}

func TestWaitSeesChanges(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	done := make(chan *unstructured.Unstructured)
	go func() { done <- env.Wait(t, "configmap/settings", harness.PathEquals(".data.colour", "red")) }()
	env.Kubectl(t, configMap, "apply", "-f", "-")
	env.Kubectl(t, strings.Replace(configMap, "green", "red", 1), "apply", "-f", "-")
	if obj := <-done; obj == nil || obj.GetName() != "settings" {
		t.Errorf("Wait returned %v", obj)
	}
	go func() { done <- env.Wait(t, "configmap/settings", harness.Gone()) }()
	env.Kubectl(t, "", "delete", "configmap", "settings")
	if obj := <-done; obj != nil {
		t.Errorf("Wait for gone returned %v", obj)
	}
}

func TestNewKindsAreFound(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	group := env.Namespace + ".test" // CRDs belong to the whole cluster, so each test has its own group
	env.Kubectl(t, strings.ReplaceAll(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, "GROUP", group), "apply", "-f", "-")
	t.Cleanup(func() {
		if out, err := exec.Command(env.Cluster.Kubectl, "--kubeconfig", env.Cluster.Kubeconfig,
			"delete", "crd", "widgets."+group).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	crd := "customresourcedefinition/widgets." + group
	env.Wait(t, crd, harness.ConditionTrue("Established"))
	env.Kubectl(t, "apiVersion: "+group+"/v1\nkind: Widget\nmetadata: {name: w}\n", "create", "-f", "-")
	env.Wait(t, "widget."+group+"/w", harness.Exists())
}

func TestAsHasNoRights(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	other := *env
	other.Kubeconfig = env.As(t, "user-of-"+env.Namespace)
	_, err := other.TryKubectl(t, "", "get", "configmaps")
	if err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Fatalf("before a role: %v, want forbidden", err)
	}
	env.Kubectl(t, "", "create", "rolebinding", "readers", "--clusterrole=view", "--user=user-of-"+env.Namespace)
	other.Kubectl(t, "", "get", "configmaps")
}

func TestProxyOnlyForItsEnv(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	through, proxy := env.Proxy(t, faultproxy.Options{})
	proxy.SetRules(faultproxy.Rule{Verb: "list", Resource: "configmaps", Status: 403})
	if out, err := through.TryKubectl(t, "", "get", "configmaps"); err == nil {
		t.Errorf("kubectl through the proxy: %s, want an error", out)
	}
	env.Kubectl(t, "", "get", "configmaps")
	if n := faultproxy.Count(proxy.Records())[faultproxy.Key{Verb: "list", Resource: "configmaps"}]; n != 1 {
		t.Errorf("the proxy saw %d lists, want the one of kubectl", n)
	}
}

func TestEvaluate(t *testing.T) {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"spec":   map[string]any{"replicas": int64(3)},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
	}}
	got := map[string]string{}
	for _, path := range []string{".spec.replicas", ".spec.missing", `.status.conditions[?(@.type=="Ready")].status`} {
		t.Run(path, func(t *testing.T) {
			value, err := harness.Evaluate(obj, path)
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			got[path] = value
		})
	}
	want := map[string]string{
		".spec.replicas": "3", ".spec.missing": "", `.status.conditions[?(@.type=="Ready")].status`: "True",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := harness.Evaluate(obj, ".spec["); err == nil {
		t.Error("a bad path is no error")
	}
}

func TestRenderHidesSecrets(t *testing.T) {
	secret := &unstructured.Unstructured{Object: map[string]any{
		"kind": "Secret", "metadata": map[string]any{"name": "s"}, "data": map[string]any{"k": "aHVudGVyMg=="},
	}}
	if text := harness.Render(secret); strings.Contains(text, "aHVudGVyMg") || !strings.Contains(text, "name: s") {
		t.Errorf("rendered as:\n%s", text)
	}
}

// TestCacheDirIsTheOneThatIsBuilt compares the caches of two modules that share no code.
func TestCacheDirIsTheOneThatIsBuilt(t *testing.T) {
	t.Parallel()
	cluster.Cluster(t) // it is built by now, or belongs to someone else
	root, err := harness.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	want, built, err := harness.CacheDir(root)
	if err != nil {
		t.Fatal(err)
	}
	if !built {
		t.Skipf("%s is not built; the cluster comes from elsewhere", want)
	}
	cmd := exec.Command("go", "-C", filepath.Join(root, "test", "cluster"), "run", ".", "build")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(out)); got != want {
		t.Errorf("test/cluster builds into %s, the harness looks in %s", got, want)
	}
}
