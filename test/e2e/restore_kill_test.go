package e2e_test

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// restoredInputs has an object for each way of writing, and a retained one.
const restoredInputs = formInputs + `  configMaps:
    - {id: applied, nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: ConfigMap, data: {plan: gold}}}
    - {id: merged, nameTemplate: "{{ .uid }}-merged", patchStrategy: merge, spec: {apiVersion: v1, kind: ConfigMap, data: {plan: gold}}}
  secrets:
    - {id: once, nameTemplate: "{{ .uid }}", creationPolicy: Once, spec: {apiVersion: v1, kind: Secret}}
    - {id: kept, nameTemplate: "{{ .uid }}-kept", deletionPolicy: Retain, spec: {apiVersion: v1, kind: Secret}}
`

// killedRestoration deletes the inventory of an active node whose form lost an object, and
// lets apply restore it. All objects must stay the same, and the garbage collector must
// delete none. The inventory or its copy must list the object that the form lost.
func killedRestoration(t *testing.T) *kills {
	t.Helper()
	r := &restoring{shop: newShop(t, restoredInputs, 1, faultproxy.Options{})}
	apply := []string{"apply", "-f", r.dir, "--concurrency=1", "--events=false"}
	return &kills{
		shop: r.shop, args: apply, least: 8, left: r.left, whole: r.whole,
		begin: func(t *testing.T, _ int) {
			t.Helper()
			r.write(t, "inputs.yaml", r.inputs(restoredInputs))
			r.start(t, apply...).want(t, 0)
			r.know(t)
			r.write(t, "inputs.yaml", r.inputs(withoutKept()))
			r.Kubectl(t, "", "delete", "configmap", inventory.Name("t000-app"), "--wait=false")
		},
	}
}

// killedInventoryRestore works like killedRestoration, for the command that reads neither
// rows nor forms. The next run must complete what a killed one left.
func killedInventoryRestore(t *testing.T) *kills {
	t.Helper()
	r := &restoring{shop: newShop(t, restoredInputs, 1, faultproxy.Options{}), keeps: true}
	apply := []string{"apply", "-f", r.dir, "--events=false"}
	r.start(t, apply...).want(t, 0)
	r.know(t)
	return &kills{
		shop: r.shop, args: []string{"inventory", "restore", "--all"}, least: 8, left: r.left,
		begin: func(t *testing.T, _ int) {
			t.Helper()
			r.Kubectl(t, "", "delete", "configmap", inventory.Name("t000-app"), "--wait=false")
		},
		whole: func(t *testing.T) {
			t.Helper()
			r.whole(t)
			r.start(t, apply...).want(t, 0, "4 objects: 4 unchanged")
		},
		end: func(t *testing.T) {
			t.Helper()
			r.start(t, "inventory", "verify").want(t, 0, "all as recorded")
		},
	}
}

// withoutKept returns the inputs without one object. lynqctl releases it only when the rest
// of the node is ready. Until then, only the inventory lists it.
func withoutKept() string {
	var rest []string
	for line := range strings.Lines(restoredInputs) {
		if !strings.Contains(line, "id: kept") {
			rest = append(rest, line)
		}
	}
	return strings.Join(rest, "")
}

// restoring is a shop with one node whose inventory lynqctl restores.
type restoring struct {
	*shop
	uids  map[string]string // of its objects
	keeps bool              // the form keeps all of them
}

// know notes the first objects, which must stay the same.
func (r *restoring) know(t *testing.T) {
	t.Helper()
	if r.uids != nil {
		return
	}
	r.uids = map[string]string{}
	for _, name := range []string{"configmap/t000", "configmap/t000-merged", "secret/t000", "secret/t000-kept"} {
		r.uids[name] = string(r.Get(t, name).GetUID())
	}
}

// left wants the inventory or its copy to list the object that only it knows. It skips this
// if lynqctl has released the object, or the run wasn't killed.
func (r *restoring) left(t *testing.T, killed bool) {
	t.Helper()
	if !killed || orphaned(r.Get(t, "secret/t000-kept")) {
		return
	}
	shot := r.look(t)
	for _, record := range append(shot.nodes, shot.copies...) {
		if strings.Contains(text(record, "data", "resources"), "t000-kept@kept") {
			return
		}
	}
	t.Error("neither an inventory nor its copy names what the form has no more")
}

// whole wants the same objects as before, which belong to the current inventory.
func (r *restoring) whole(t *testing.T) {
	t.Helper()
	record := r.Get(t, "configmap/"+inventory.Name("t000-app"))
	if record.GetDeletionTimestamp() != nil || len(record.GetFinalizers()) != 1 {
		t.Errorf("the inventory is %v", record.Object["metadata"])
	}
	for name, uid := range r.uids {
		o := r.Get(t, name)
		if string(o.GetUID()) != uid || o.GetDeletionTimestamp() != nil {
			t.Errorf("%s is another object, or is being deleted: %v", name, o.Object["metadata"])
		}
		owners := o.GetOwnerReferences()
		switch {
		case name == "secret/t000-kept" && r.keeps:
			if len(owners) > 0 || orphaned(o) {
				t.Errorf("%s is not tracked by labels: %v", name, o.Object["metadata"])
			}
		case name == "secret/t000-kept":
			if len(owners) > 0 || !orphaned(o) {
				t.Errorf("%s is not an orphan: %v", name, o.Object["metadata"])
			}
		case len(owners) != 1 || owners[0].UID != record.GetUID():
			t.Errorf("%s belongs to %v, want the inventory", name, owners)
		}
	}
	r.Wait(t, "configmap/"+inventory.CopyName("t000-app"), harness.Gone())
}
