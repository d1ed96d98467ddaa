package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

const restoredInputs = `
apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: HUB}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: HUB
  configMaps:
    - {id: applied, nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: ConfigMap, data: {plan: gold}}}
    - {id: merged, nameTemplate: "{{ .uid }}-merged", patchStrategy: merge, spec: {apiVersion: v1, kind: ConfigMap, data: {plan: gold}}}
  secrets:
    - {id: once, nameTemplate: "{{ .uid }}", creationPolicy: Once, spec: {apiVersion: v1, kind: Secret}}
    - {id: kept, nameTemplate: "{{ .uid }}-kept", deletionPolicy: Retain, spec: {apiVersion: v1, kind: Secret}}
`

// removedInputs have one object less, which leaves only when the rest of the node
// is well: until then the inventory alone names it.
func removedInputs() string {
	lines := strings.Split(restoredInputs, "\n")
	var rest []string
	for _, line := range lines {
		if !strings.Contains(line, "id: kept") {
			rest = append(rest, line)
		}
	}
	return strings.Join(rest, "\n")
}

// TestRestoreKilled deletes the inventory of an active node, and kills the run that
// restores it before each of its writes in turn. All objects stay the same ones
// whenever that is, the garbage collector takes none of them, and an inventory or
// its copy names what the form has no more.
func TestRestoreKilled(t *testing.T) {
	t.Parallel()
	bin := lynqctl(t)
	rounds := 0
	for write := 1; ; write++ {
		r := newRestoreRound(t, bin)
		if !killedBefore(t, r.proxy, r.command(t), write) {
			r.whole(t)
			break
		}
		rounds++
		r.named(t)
		r.env.Kubectl(t, "", "delete", "lease", "--all")
		if out, err := r.command(t).CombinedOutput(); err != nil {
			t.Errorf("the second run: %v\n%s", err, out)
		}
		r.whole(t)
		if t.Failed() {
			t.Fatalf("after a kill before write %d", write)
		}
	}
	if rounds < 8 {
		t.Errorf("only %d runs were killed: a restoration has more writes", rounds)
	}
}

// restoreRound is one node whose inventory is restored.
type restoreRound struct {
	env    *harness.Env
	bin    string
	proxy  *faultproxy.Server
	config string
	dir    string
	before map[string]string // uids, by the name of the object
}

func newRestoreRound(t *testing.T, bin string) *restoreRound {
	t.Helper()
	env := cluster.Env(t)
	through, proxy := env.Proxy(t, faultproxy.Options{})
	r := &restoreRound{env: env, bin: bin, proxy: proxy, config: through.Kubeconfig, dir: t.TempDir(), before: map[string]string{}}
	r.write(t, "in.yaml", restoredInputs)
	r.write(t, "rows.csv", "id,active\nacme,1\n")
	if out, err := r.command(t).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"configmap/acme", "configmap/acme-merged", "secret/acme", "secret/acme-kept"} {
		r.before[name] = string(env.Get(t, name).GetUID())
	}
	r.write(t, "in.yaml", removedInputs())
	env.Kubectl(t, "", "delete", "configmap", inventory.Name("acme-web"), "--wait=false")
	return r
}

func (r *restoreRound) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(strings.ReplaceAll(text, "HUB", r.env.Namespace)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r *restoreRound) command(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), r.bin, "apply", "-f", filepath.Join(r.dir, "in.yaml"), "--concurrency=1", "--events=false", "-n", r.env.Namespace)
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+r.config)
	return cmd
}

// named: an inventory or its copy names what only it knows of, unless that is
// released already.
func (r *restoreRound) named(t *testing.T) {
	t.Helper()
	if r.env.Get(t, "secret/acme-kept").GetLabels()["lynq.sh/orphaned"] == "true" {
		return
	}
	for _, name := range []string{inventory.Name("acme-web"), inventory.CopyName("acme-web")} {
		out := r.env.Kubectl(t, "", "get", "configmap", name, "--ignore-not-found", "-o", "jsonpath={.data.resources}")
		if strings.Contains(out, "acme-kept@kept") {
			return
		}
	}
	t.Error("neither an inventory nor its copy names what the form has no more")
}

// whole: the objects are those from before, and belong to the inventory that is
// there now.
func (r *restoreRound) whole(t *testing.T) {
	t.Helper()
	record := r.env.Get(t, "configmap/"+inventory.Name("acme-web"))
	if record.GetDeletionTimestamp() != nil || len(record.GetFinalizers()) != 1 {
		t.Errorf("the inventory is %v", record.Object["metadata"])
	}
	for name, uid := range r.before {
		o := r.env.Get(t, name)
		if string(o.GetUID()) != uid || o.GetDeletionTimestamp() != nil {
			t.Errorf("%s is another object, or is being deleted: %v", name, o.Object["metadata"])
		}
		owners := o.GetOwnerReferences()
		switch {
		case name == "secret/acme-kept":
			if len(owners) > 0 || o.GetLabels()["lynq.sh/orphaned"] != "true" {
				t.Errorf("%s is not an orphan: %v", name, o.Object["metadata"])
			}
		case len(owners) != 1 || owners[0].UID != record.GetUID():
			t.Errorf("%s belongs to %v, want the inventory", name, owners)
		}
	}
	r.without(t, "configmap/"+inventory.CopyName("acme-web"))
}

// without waits until an object is gone.
func (r *restoreRound) without(t *testing.T, name string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		return r.env.Kubectl(t, "", "get", name, "--ignore-not-found", "-o", "name") == "", nil
	})
	if err != nil {
		t.Errorf("%s is still there", name)
	}
}
