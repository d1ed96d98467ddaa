package e2e_test

import (
	"fmt"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// removedInputs is a hub and a form with one object for each way to write it.
const removedInputs = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: HUB}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
  extraValueMappings: {plan: plan}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: app}
spec:
  hubId: HUB
  configMaps:
    - id: applied
      nameTemplate: "{{ .uid }}-applied"
      labelsTemplate: {tier: web}
      annotationsTemplate: {plan: "{{ .plan }}"}
      spec: {apiVersion: v1, kind: ConfigMap, data: {plan: "{{ .plan }}", region: north}}
    - id: merged
      nameTemplate: "{{ .uid }}-merged"
      patchStrategy: merge
      labelsTemplate: {tier: web}
      spec: {apiVersion: v1, kind: ConfigMap, data: {plan: "{{ .plan }}", region: north}}
    - id: replaced
      nameTemplate: "{{ .uid }}-replaced"
      patchStrategy: replace
      spec: {apiVersion: v1, kind: ConfigMap, data: {plan: "{{ .plan }}", region: north}}
  deployments:
    - id: server
      nameTemplate: "{{ .uid }}-server"
      spec:
        apiVersion: apps/v1
        kind: Deployment
        spec:
          replicas: 0
          selector: {matchLabels: {app: "{{ .uid }}"}}
          template:
            metadata: {labels: {app: "{{ .uid }}"}}
            spec: {containers: [{name: server, image: example.com/server, env: [{name: PLAN, value: "{{ .plan }}"}]}]}
`

// handRemoval is something that a person removes from an object of a node.
type handRemoval struct {
	kind    schema.GroupVersionResource
	suffix  string
	manager string
	patch   string // a JSON patch
}

func handRemovals() []handRemoval {
	configMaps, deployments := shopKinds()[2], shopKinds()[0]
	const byHand = "kubectl-patch"
	return []handRemoval{
		{configMaps, "-applied", byHand, `[{"op":"remove","path":"/data/region"}]`},
		{configMaps, "-applied", byHand, `[{"op":"remove","path":"/metadata/labels/tier"}]`},
		{configMaps, "-applied", byHand, `[{"op":"remove","path":"/metadata/annotations/plan"}]`},
		{configMaps, "-applied", byHand, `[{"op":"remove","path":"/metadata/ownerReferences"}]`},
		{configMaps, "-applied", "lynq", `[{"op":"remove","path":"/data/region"}]`},
		{configMaps, "-applied", "lynq", `[{"op":"replace","path":"/data/region","value":"south"}]`},
		{deployments, "-server", byHand, `[{"op":"remove","path":"/spec/template/spec/containers/0/env"}]`},
		{configMaps, "-merged", byHand, `[{"op":"remove","path":"/data/region"}]`},
		{configMaps, "-merged", byHand, `[{"op":"remove","path":"/metadata/labels/tier"}]`},
		{configMaps, "-replaced", byHand, `[{"op":"remove","path":"/data/region"}]`},
	}
}

// repairedWithin limits a repair, even on a busy machine. A round about all nodes comes
// after five minutes.
const repairedWithin = 2 * time.Minute

// TestWatchRestoresRemovals wants a watch to restore everything that a person removes, long
// before a round about all nodes.
func TestWatchRestoresRemovals(t *testing.T) {
	t.Parallel()
	removals := handRemovals()
	const rows = 2
	s := newShop(t, removedInputs, rows, faultproxy.Options{})
	w := s.watch(t)
	w.said(t, `"msg":"round"`)
	s.takesBack(t)
	s.proxy.Reset()
	var took []time.Duration
	for i := range rows {
		for _, r := range removals {
			took = append(took, s.restored(t, fmt.Sprintf("t%03d", i), r))
		}
	}
	slices.Sort(took)
	t.Logf("%d removals: repaired after %s (median), %s (at most)", len(took), took[len(took)/2], took[len(took)-1])
	rounds := 0
	for _, r := range s.proxy.Records() {
		if isHubSaved(r) {
			rounds++
		}
	}
	if rounds > len(took)+len(took)/2 {
		t.Errorf("%d rounds for %d removals: lynqctl's own writes start rounds", rounds, len(took))
	}
	kill(t, w, syscall.SIGTERM)
	w.want(t, 130)
}

// takesBack waits until the watch restores an edit, which proves that it sees changes.
func (s *shop) takesBack(t *testing.T) {
	t.Helper()
	s.restored(t, "t000", handRemoval{shopKinds()[2], "-applied", "kubectl-patch", `[{"op":"replace","path":"/data/plan","value":"edited"}]`})
}

// restored removes something, and returns the time until the object is as before.
func (s *shop) restored(t *testing.T, uid string, r handRemoval) time.Duration {
	t.Helper()
	objects := s.Dynamic.Resource(r.kind).Namespace(s.Namespace)
	name := uid + r.suffix
	get := func() map[string]any {
		o, err := objects.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return declaredIn(o)
	}
	before := get()
	removed, err := objects.Patch(t.Context(), name, types.JSONPatchType, []byte(r.patch), metav1.PatchOptions{FieldManager: r.manager})
	if err != nil {
		t.Fatalf("%s of %s: %v", r.patch, name, err)
	}
	if reflect.DeepEqual(before, declaredIn(removed)) {
		t.Fatalf("%s of %s changed nothing", r.patch, name)
	}
	began := time.Now()
	tick := time.NewTicker(pollEvery / 10)
	defer tick.Stop()
	for !reflect.DeepEqual(before, get()) {
		if time.Since(began) > repairedWithin {
			t.Fatalf("%s of %s by %s is not repaired after %s", r.patch, name, r.manager, repairedWithin)
		}
		<-tick.C
	}
	return time.Since(began)
}

// declaredIn returns an object without the fields that each write changes, and without its
// status.
func declaredIn(o *unstructured.Unstructured) map[string]any {
	o = o.DeepCopy()
	for _, path := range [][]string{
		{"status"}, {"metadata", "managedFields"}, {"metadata", "resourceVersion"}, {"metadata", "generation"},
		{"metadata", "annotations", "deployment.kubernetes.io/revision"},
	} {
		unstructured.RemoveNestedField(o.Object, path...)
	}
	return o.Object
}
