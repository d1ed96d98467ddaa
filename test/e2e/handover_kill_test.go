package e2e_test

import (
	"fmt"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// handedOver are a hub of the operator, and a form with objects of each way of
// tracking and of writing.
const handedOver = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: HUB}
spec:
  source: {type: mysql, mysql: {host: db.example.com, username: reader, database: crm, table: tenants}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: HUB
  configMaps:
    - {id: settings, nameTemplate: "{{ .uid }}", labelsTemplate: {app: web}, spec: {apiVersion: v1, kind: ConfigMap, data: {key: value}}}
    - {id: merged, nameTemplate: "{{ .uid }}-merged", patchStrategy: merge, spec: {apiVersion: v1, kind: ConfigMap, data: {key: value}}}
  secrets:
    - {id: kept, nameTemplate: "{{ .uid }}", deletionPolicy: Retain, spec: {apiVersion: v1, kind: Secret, stringData: {key: value}}}
  namespaces:
    - {id: room, nameTemplate: "HUB-room", spec: {apiVersion: v1, kind: Namespace}}
`

// TestHandoverKilled ends runs of adopt-operator with SIGKILL before each of their
// writes in turn. Whenever that is, a second run completes the handover, and the
// garbage collector takes nothing.
func TestHandoverKilled(t *testing.T) {
	t.Parallel()
	operatorKinds(t)
	bin := lynqctl(t)
	var rounds []*handoverRound
	for write := 1; ; write++ {
		r := newHandoverRound(t, bin)
		rounds = append(rounds, r)
		if !r.killed(t, write) {
			break // it has ended before
		}
		r.completed(t)
		if t.Failed() {
			t.Fatalf("after a kill before write %d", write)
		}
	}
	if len(rounds) < 10 {
		t.Errorf("only %d runs were killed: a handover has more writes", len(rounds)-1)
	}
	for _, r := range rounds {
		r.env.Wait(t, "lynqnodes.operator.lynq.sh/acme-web", harness.Gone())
		r.collected(t)
		r.whole(t)
	}
}

// handoverRound is one hub that is handed over.
type handoverRound struct {
	env    *harness.Env
	bin    string
	proxy  *faultproxy.Server
	config string
	before map[string]map[string]any // content, by the name of the object
}

func handoverObjects(hub string) []string {
	return []string{"configmap/acme", "configmap/acme-merged", "secret/acme", "namespace/" + hub + "-room"}
}

func newHandoverRound(t *testing.T, bin string) *handoverRound {
	t.Helper()
	env := operated.Env(t)
	through, proxy := env.Proxy(t, faultproxy.Options{})
	r := &handoverRound{env: env, bin: bin, proxy: proxy, config: through.Kubeconfig, before: map[string]map[string]any{}}
	env.Kubectl(t, strings.ReplaceAll(handedOver, "HUB", env.Namespace), "apply", "-f", "-")
	if err := operate(t.Context(), env, "id,active\nacme,1\n"); err != nil {
		t.Fatal(err)
	}
	for _, name := range handoverObjects(env.Namespace) {
		r.before[name] = content(env.Get(t, name))
	}
	return r
}

// content is all that an object is, but for its tracking.
func content(o *unstructured.Unstructured) map[string]any {
	c := o.DeepCopy().Object
	c["metadata"] = map[string]any{"uid": string(o.GetUID()), "name": o.GetName(), "app": o.GetLabels()["app"], "created": o.GetCreationTimestamp().String()}
	return c
}

func (r *handoverRound) command() *exec.Cmd {
	cmd := exec.Command(r.bin, "adopt-operator", "--yes", "--concurrency=1", "--operator-namespace", r.env.Namespace, "-n", r.env.Namespace)
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+r.config)
	return cmd
}

// killed runs a handover and kills it before a write. It tells whether the run came
// so far.
func (r *handoverRound) killed(t *testing.T, write int) bool {
	t.Helper()
	return killedBefore(t, r.proxy, r.command(), write)
}

// killedBefore runs a command and kills it before its nth write. It tells whether the
// run came so far; one that did not must end well.
func killedBefore(t *testing.T, proxy *faultproxy.Server, cmd *exec.Cmd, write int) bool {
	t.Helper()
	var writes atomic.Int64
	var killed atomic.Bool
	started, gone := make(chan struct{}), make(chan struct{})
	before := func() {
		if writes.Add(1) == int64(write) {
			killed.Store(true)
			<-started
			_ = cmd.Process.Kill() // it has not ended: it waits for an answer
			<-gone
		}
	}
	var rules []faultproxy.Rule
	for _, verb := range []string{"create", "update", "patch", "delete"} {
		rules = append(rules, faultproxy.Rule{Verb: verb, Before: before})
	}
	proxy.SetRules(rules...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	err := cmd.Wait()
	close(gone)
	if !killed.Load() && err != nil {
		t.Errorf("a run that was not killed: %v", err)
	}
	proxy.SetRules()
	return killed.Load()
}

// completed runs the handover again, undisturbed. The Lease of the one that was
// killed is taken away, for its time need not be waited for.
func (r *handoverRound) completed(t *testing.T) {
	t.Helper()
	r.env.Kubectl(t, "", "delete", "lease", "--all")
	if out, err := r.command().CombinedOutput(); err != nil {
		t.Errorf("the second run: %v\n%s", err, out)
	}
}

// collected waits until the garbage collector has seen what there was before now: it
// deletes an object whose owner is gone.
func (r *handoverRound) collected(t *testing.T) {
	t.Helper()
	canary := newObject("v1", "ConfigMap", "canary")
	canary.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: lynq.APIVersion, Kind: lynq.KindNode, Name: "acme-web", UID: "11111111-1111-1111-1111-111111111111"}})
	client := r.env.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(r.env.Namespace)
	if _, err := client.Create(t.Context(), canary, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.env.Wait(t, "configmap/canary", harness.Gone())
}

// whole compares what there is with what there was.
func (r *handoverRound) whole(t *testing.T) {
	t.Helper()
	record := r.env.Get(t, "configmap/"+inventory.Name("acme-web"))
	for name, before := range r.before {
		o := r.env.Get(t, name)
		if diff := cmp.Diff(before, content(o)); diff != "" {
			t.Errorf("%s changed (-before +after):\n%s", name, diff)
		}
		owners, labelled := o.GetOwnerReferences(), o.GetLabels()[lynq.LabelNode] == "acme-web"
		owned := len(owners) == 1 && owners[0].UID == record.GetUID()
		if owned == labelled || o.GetLabels()[lynq.LabelHub] != r.env.Namespace {
			t.Errorf("%s is tracked by %v and %v", name, owners, o.GetLabels())
		}
	}
	resources, _, _ := unstructured.NestedString(record.Object, "data", "resources")
	if got := strings.Count(resources, `"key"`); got != len(r.before) {
		t.Errorf("%s", fmt.Sprintf("%d objects are recorded, want %d:\n%s", got, len(r.before), resources))
	}
}
