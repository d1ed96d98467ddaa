package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// recreatedInputs has objects that a change of the row recreates, one of which depends on
// the other. It also has one that the change doesn't affect.
const recreatedInputs = `apiVersion: operator.lynq.sh/v1
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
    - {id: settings, nameTemplate: "{{ .uid }}-settings", adoptionPolicy: Never, patchStrategy: recreate, spec: {apiVersion: v1, kind: ConfigMap, data: {plan: "{{ .plan }}"}}}
    - {id: beside, nameTemplate: "{{ .uid }}-beside", patchStrategy: recreate, spec: {apiVersion: v1, kind: ConfigMap, data: {plan: gold}}}
  deployments:
    - id: server
      nameTemplate: "{{ .uid }}-server"
      dependIds: [settings]
      adoptionPolicy: Never
      patchStrategy: recreate
      spec:
        apiVersion: apps/v1
        kind: Deployment
        spec:
          paused: true
          replicas: 0
          selector: {matchLabels: {app: "{{ .uid }}-{{ .plan }}"}}
          template:
            metadata: {labels: {app: "{{ .uid }}-{{ .plan }}"}}
            spec: {containers: [{name: server, image: example.com/server}]}
`

// killedRecreation recreates objects. The inventory must list all of them at any time, and
// other objects must be unchanged.
func killedRecreation(t *testing.T) *kills {
	t.Helper()
	r, apply := newRecreating(t)
	return &kills{
		shop: r.shop, args: apply, least: 8,
		begin: func(t *testing.T, n int) {
			t.Helper()
			r.rows["t000"] = fmt.Sprintf("plan-%d", n)
			r.writeRows(t)
		},
		left: func(t *testing.T, killed bool) {
			t.Helper()
			if killed {
				r.named(t)
			}
		},
		whole: func(t *testing.T) {
			t.Helper()
			r.whole(t, apply)
		},
	}
}

// newRecreating returns a shop that was applied, and the arguments to apply it again.
func newRecreating(t *testing.T) (r *recreating, apply []string) {
	t.Helper()
	r = &recreating{shop: newShop(t, recreatedInputs, 2, faultproxy.Options{})}
	apply = []string{"apply", "-f", r.dir, "--concurrency=1", "--events=false"}
	r.start(t, apply...).want(t, 0)
	r.uids = r.others(t)
	return r, apply
}

// TestRecreateKilledWaiting kills a run that waits for a finalizer of the old object. The
// next run finds the object gone, and must create it.
func TestRecreateKilledWaiting(t *testing.T) {
	t.Parallel()
	r, apply := newRecreating(t)
	const held = "t000-settings"
	r.Kubectl(t, "", "patch", "configmap", held, "--type=json", "-p", `[{"op":"add","path":"/metadata/finalizers","value":["example.com/hold"]}]`)
	r.rows["t000"] = "plan-1"
	r.writeRows(t)
	waiting := r.start(t, apply...)
	waiting.said(t, "finalizer example.com/hold holds it")
	kill(t, waiting, syscall.SIGKILL)
	<-waiting.done
	r.named(t)
	r.deleteLease(t)
	r.Kubectl(t, "", "patch", "configmap", held, "--type=json", "-p", `[{"op":"remove","path":"/metadata/finalizers"}]`)
	r.start(t, apply...).want(t, 0, "ConfigMap "+r.Namespace+"/"+held+"  created")
	r.whole(t, apply)
}

// recreating is a shop of two nodes, of which one changes.
type recreating struct {
	*shop
	uids map[string]string // of the unchanged objects
}

// others returns the uids of the unchanged objects.
func (r *recreating) others(t *testing.T) map[string]string {
	t.Helper()
	uids := map[string]string{}
	for _, name := range []string{"configmap/t000-beside", "configmap/t001-beside", "configmap/t001-settings", "deployment/t001-server"} {
		uids[name] = string(r.Get(t, name).GetUID())
	}
	return uids
}

// named wants the inventory to list the recreated objects.
func (r *recreating) named(t *testing.T) {
	t.Helper()
	complain(t, r.look(t).unnamed())
	resources := text(r.Get(t, "configmap/"+inventory.Name("t000-app")), "data", "resources")
	for _, key := range []string{"t000-settings@settings", "t000-beside@beside", "t000-server@server"} {
		if !strings.Contains(resources, key) {
			t.Errorf("the inventory does not name %s: %s", key, resources)
		}
	}
}

// whole wants the objects to match the row and the inventory, and the others to be the same
// as before.
func (r *recreating) whole(t *testing.T, apply []string) {
	t.Helper()
	r.settled(t)
	complain(t, r.look(t).unconfirmed())
	if uids := r.others(t); !maps.Equal(uids, r.uids) {
		t.Errorf("other objects are not those from before: %v, want %v", uids, r.uids)
	}
	r.proxy.Reset()
	r.start(t, apply...).want(t, 0, "2 nodes: 2 unchanged; 6 objects: 6 unchanged")
	if slices.ContainsFunc(r.proxy.Records(), func(record faultproxy.Record) bool {
		return record.Verb == "delete" && record.Resource != "leases.coordination.k8s.io"
	}) {
		t.Errorf("something was deleted again: %v", r.proxy.Records())
	}
}
