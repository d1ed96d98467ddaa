package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// handedOver is a hub of the operator, and a form with objects for each way of tracking and
// of writing.
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

// killedHandover wants a second run to complete the handover, and the garbage collector to
// delete nothing.
func killedHandover(t *testing.T) *kills {
	t.Helper()
	operatorKinds(t)
	var rounds []*handoverRound
	k := &kills{least: 8, whole: func(*testing.T) {}}
	k.begin = func(t *testing.T, _ int) {
		t.Helper()
		r := newHandoverRound(t)
		rounds = append(rounds, r)
		k.shop, k.args = r.shop, r.args()
	}
	k.end = func(t *testing.T) {
		t.Helper()
		for _, r := range rounds {
			r.Wait(t, "lynqnodes.operator.lynq.sh/acme-web", harness.Gone())
			r.collected(t)
			r.whole(t)
		}
	}
	return k
}

// handoverRound is the handover of one hub.
type handoverRound struct {
	*shop
	before map[string]map[string]any // content, by the name of the object
}

func handoverObjects(hub string) []string {
	return []string{"configmap/acme", "configmap/acme-merged", "secret/acme", "namespace/" + hub + "-room"}
}

func newHandoverRound(t *testing.T) *handoverRound {
	t.Helper()
	env, proxy := operated.Env(t).Proxy(t, faultproxy.Options{})
	r := &handoverRound{shop: &shop{Env: env, bin: lynqctl(t), proxy: proxy}, before: map[string]map[string]any{}}
	r.Kubectl(t, r.inputs(handedOver), "apply", "-f", "-")
	if err := operate(t.Context(), env, "id,active\nacme,1\n"); err != nil {
		t.Fatal(err)
	}
	for _, name := range handoverObjects(r.hub()) {
		r.before[name] = content(r.Get(t, name))
	}
	return r
}

// args returns the arguments of a handover that sends one write at a time.
func (r *handoverRound) args() []string {
	return []string{"adopt-operator", "--yes", "--concurrency=1", "--operator-namespace", r.Namespace, "-n", r.Namespace}
}

// content returns an object without its tracking.
func content(o *unstructured.Unstructured) map[string]any {
	c := o.DeepCopy().Object
	c["metadata"] = map[string]any{"uid": string(o.GetUID()), "name": o.GetName(), "app": o.GetLabels()["app"], "created": o.GetCreationTimestamp().String()}
	return c
}

// collected waits until the garbage collector has processed everything that existed before
// now. It creates an object whose owner is gone, and waits for its deletion.
func (r *handoverRound) collected(t *testing.T) {
	t.Helper()
	canary := newObject("v1", "ConfigMap", "canary")
	canary.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: wellknown.APIVersion, Kind: wellknown.KindNode, Name: "acme-web", UID: "11111111-1111-1111-1111-111111111111"}})
	client := r.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(r.Namespace)
	if _, err := client.Create(t.Context(), canary, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.Wait(t, "configmap/canary", harness.Gone())
}

// whole compares the objects with those from before.
func (r *handoverRound) whole(t *testing.T) {
	t.Helper()
	record := r.Get(t, "configmap/"+inventory.Name("acme-web"))
	for name, before := range r.before {
		o := r.Get(t, name)
		if diff := cmp.Diff(before, content(o)); diff != "" {
			t.Errorf("%s changed (-before +after):\n%s", name, diff)
		}
		owners, labelled := o.GetOwnerReferences(), o.GetLabels()[wellknown.LabelNode] == "acme-web"
		owned := len(owners) == 1 && owners[0].UID == record.GetUID()
		if owned == labelled || o.GetLabels()[wellknown.LabelHub] != r.Namespace {
			t.Errorf("%s is tracked by %v and %v", name, owners, o.GetLabels())
		}
	}
	resources, _, _ := unstructured.NestedString(record.Object, "data", "resources")
	if got := strings.Count(resources, `"key"`); got != len(r.before) {
		t.Errorf("%s", fmt.Sprintf("%d objects are recorded, want %d:\n%s", got, len(r.before), resources))
	}
}
