package harness_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDo: the process of many commands does and says what kubectl's own process does and
// says in another namespace. What it may not run there it leaves alone.
func TestDo(t *testing.T) {
	t.Parallel()
	one, other := cluster.Env(t), cluster.Env(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "objects.yaml")
	if err := os.WriteFile(path, []byte(asked), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"create configmap one --from-literal=colour=red", "create configmap one", "create -f objects.yaml --dry-run=server", "create configmap --none",
		"apply -f objects.yaml", "apply -f objects.yaml", "apply --server-side --field-manager=other -f objects.yaml", "apply -f none.yaml",
		`patch configmap one two -p {"data":{"more":"1"}}`, `patch configmap/one --type=merge -p {"data":{"colour":null}}`, `patch configmap one --type=json -p [{"op":"remove","path":"/data/none"}]`,
		"label configmap one tier=silver", "label configmap one two tier=silver --overwrite", "annotate configmap one note=this other-",
		"scale deployment/one --replicas=1", "wait deployment/one --for=jsonpath={.status.availableReplicas}=1 --timeout=180s", // so that rollout says the same in both
		"rollout status deployment/one --timeout=180s", "wait deployment/one --for=condition=Available --timeout=180s",
		"wait configmap/one --for=jsonpath={.data.more}=2 --timeout=1s", "wait configmap/none --for=create --timeout=1s", "wait configmap/none --for=delete",
		"replace -f objects.yaml", "get configmap,deployment -o custom-columns=NAME:.metadata.name,COLOUR:.data.colour,REPLICAS:.spec.replicas", "get nothing",
		"create role reader --verb=get --resource=configmaps", "create rolebinding reader --role=reader --user=reader", "get configmap one -o jsonpath={.data} --as=reader", "get secrets --as=reader",
		"delete configmap one none", "delete -f objects.yaml --ignore-not-found", "-n default get configmap none",
	} {
		args := strings.Fields(line)
		answer, known, err := one.Do(t.Context(), one.Kubeconfig, dir, args...)
		if err != nil {
			t.Fatal(err)
		}
		if !known {
			if args[0] != "-n" {
				t.Errorf("%s: it isn't known", line)
			}
			continue
		}
		for i := range args {
			if args[i] == "objects.yaml" || args[i] == "none.yaml" {
				args[i] = filepath.Join(dir, args[i])
			}
		}
		out, failure := other.RunKubectl(t, args...)
		got := strings.ReplaceAll(answer.Stdout, one.Namespace, other.Namespace)
		if got != out || answer.Failed != (failure != nil) {
			t.Errorf("%s: it says %+v, and kubectl %q, %v", line, answer, out, failure)
		}
		if failure != nil && !strings.HasSuffix(failure.Error(), "\n"+strings.ReplaceAll(answer.Stderr, one.Namespace, other.Namespace)) {
			t.Errorf("%s: it says %q, and kubectl %v", line, answer.Stderr, failure)
		}
	}
	for _, line := range []string{"", "diff -f objects.yaml", "apply -f -", "apply -f=objects.yaml", "apply --filename objects.yaml", "apply -k .", "create configmap two --from-file=objects.yaml", "patch configmap one --patch-file objects.yaml"} {
		if _, known, _ := one.Do(t.Context(), one.Kubeconfig, dir, strings.Fields(line)...); known {
			t.Errorf("%s: it is known", line)
		}
	}
}
