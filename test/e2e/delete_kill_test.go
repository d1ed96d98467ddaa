package e2e_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

const (
	// The test deletes a hub with removedRows rows several times: removals. It ends such a
	// run early endsEach times, after at most mostOfRemoval requests.
	removals      = 3
	endsEach      = 5
	mostOfRemoval = 50
	removedRows   = 40
	// mostUnknown limits the requests between the moment of a kill and the kill.
	mostUnknown = 8
	// keptEach is the number of retained objects of a node.
	keptEach = 2
)

// estateInputs has five objects per node: two kinds, two namespaces, both deletion
// policies, and dependencies.
const estateInputs = formInputs + `  configMaps:
    - {id: settings, nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: ConfigMap}}
    - {id: kept, nameTemplate: "{{ .uid }}-kept", deletionPolicy: Retain, spec: {apiVersion: v1, kind: ConfigMap}}
  secrets:
    - {id: far, nameTemplate: "{{ .uid }}", targetNamespace: OTHER, dependIds: [settings], spec: {apiVersion: v1, kind: Secret}}
    - {id: vault, nameTemplate: "{{ .uid }}-vault", targetNamespace: OTHER, deletionPolicy: Retain, spec: {apiVersion: v1, kind: Secret}}
  deployments:
    - id: server
      nameTemplate: "{{ .uid }}"
      dependIds: [settings]
      spec:
        apiVersion: apps/v1
        kind: Deployment
        spec:
          paused: true
          selector: {matchLabels: {app: "{{ .uid }}"}}
          template:
            metadata: {labels: {app: "{{ .uid }}"}}
            spec: {containers: [{name: server, image: example.com/server}]}
`

// TestDeleteKilled ends runs that delete a hub, with SIGKILL and with SIGINT. Every object
// must stay in an inventory at any time. The undisturbed run leaves only orphans.
func TestDeleteKilled(t *testing.T) {
	t.Parallel()
	e := &estate{other: cluster.Env(t).NewNamespace(t), random: newRandom(t)}
	e.shop = newShop(t, strings.ReplaceAll(estateInputs, "OTHER", e.other), removedRows, faultproxy.Options{})
	remove := [][]string{
		{"delete", "hub", e.hub(), "--yes"},
		{"finalize", "--hub", e.hub(), "--yes"},
		{"delete", "hub", e.hub(), "--yes", "--cascade=foreground"},
	}
	for i := range removals {
		e.proxy.SetRules()
		e.apply(t, "--wait=false").want(t, 0)
		args := remove[i%len(remove)]
		if args[0] == "finalize" {
			e.Kubectl(t, "", "delete", "configmap", "lynqhub-"+e.hub(), "--wait=false")
		}
		for range endsEach {
			e.round(t, args)
		}
		e.proxy.SetRules()
		e.start(t, args...).want(t, 0)
		complain(t, e.look(t).remains(removedRows*keptEach))
		if t.Failed() {
			t.Fatalf("after %d removals, the last by %q", i+1, args)
		}
	}
}

// estate is a shop with objects in another namespace, too.
type estate struct {
	*shop
	other  string
	random *rand.Rand
}

// round ends a run at a random moment, and checks the state.
func (e *estate) round(t *testing.T, args []string) {
	t.Helper()
	moment := e.random.IntN(mostOfRemoval)
	signal, rule := syscall.SIGKILL, faultproxy.Rule{Skip: moment}
	held := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(held) })
	defer goOn()
	switch e.random.IntN(4) {
	case 0:
		rule.Delay = time.Hour // later requests never arrive
	case 1:
		rule.End = faultproxy.CutAfter // it takes effect, but lynqctl gets no answer
	case 2:
		// A request is in progress until the run knows that it is interrupted.
		signal, rule.Times, rule.Before = syscall.SIGINT, 1, func() { <-held }
	default:
		// This moment is unknown, but the run isn't done yet.
		rule.Skip, rule.Delay = moment+mostUnknown, time.Hour
	}
	e.proxy.SetRules(rule)
	e.proxy.Reset()
	r := e.start(t, args...)
	if !e.until(t, r, func(records []faultproxy.Record) bool { return len(records) > moment }) {
		r.want(t, 0)
		t.Fatalf("it was done before request %d: there is too little to do for this test", moment)
	}
	kill(t, r, signal)
	if signal == syscall.SIGINT {
		r.hears()
		goOn()
	}
	<-r.done
	shot := e.look(t)
	if signal == syscall.SIGINT {
		r.want(t, 130)
		complain(t, shot.locked())
	} else {
		e.deleteLease(t) // otherwise each next run would wait until it expires
	}
	complain(t, shot.unnamed())
	if t.Failed() {
		t.Fatalf("ended with %s by request %d, %+v", signal, moment, rule)
	}
}

// look waits for the garbage collector, and takes a snapshot of both namespaces.
func (e *estate) look(t *testing.T) *snapshot {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		shot := e.shop.look(t)
		for _, ns := range []string{e.Namespace, e.other} {
			list, err := e.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(ns).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range list.Items {
				shot.objects[refOf(&list.Items[i])] = &list.Items[i]
			}
		}
		if !shot.collecting() {
			return shot
		}
		select {
		case <-t.Context().Done():
			t.Fatal(errors.New("the garbage collector does not come"))
		case <-tick.C:
		}
	}
}

// collecting reports whether objects exist whose inventory is gone, so that the garbage
// collector is about to delete them.
func (s *snapshot) collecting() bool {
	for _, o := range s.objects {
		for _, owner := range o.GetOwnerReferences() {
			there := func(inv *unstructured.Unstructured) bool { return inv.GetUID() == owner.UID }
			if strings.HasPrefix(owner.Name, "lynqnode-") && !slices.ContainsFunc(s.nodes, there) {
				return true
			}
		}
	}
	return false
}

// remains returns everything that a deleted hub must not leave: anything except that many
// orphans.
func (s *snapshot) remains(orphans int) []string {
	var wrong []string
	for _, inv := range s.nodes {
		wrong = append(wrong, inv.GetName()+" is still there")
	}
	if s.record != nil {
		wrong = append(wrong, "the hub's record is still there")
	}
	if s.lease != nil {
		wrong = append(wrong, "the hub's Lease is still there")
	}
	for _, ref := range slices.Sorted(maps.Keys(s.objects)) {
		o := s.objects[ref]
		if s.tracked(o) || !orphaned(o) || o.GetAnnotations()[wellknown.AnnotationOrphanedReason] != wellknown.ReasonNodeDeleted {
			wrong = append(wrong, fmt.Sprintf("%s is no orphan of a deleted node: labels %v", ref, o.GetLabels()))
		}
	}
	if len(s.objects) != orphans {
		wrong = append(wrong, fmt.Sprintf("%d objects are left, want %d", len(s.objects), orphans))
	}
	return wrong
}

// TestRemains wants the check of a deleted hub to find problems.
func TestRemains(t *testing.T) {
	s, _ := sample(t)
	orphan := func() *snapshot {
		o := &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap"}}
		o.SetLabels(map[string]string{wellknown.LabelOrphaned: "true"})
		o.SetAnnotations(map[string]string{wellknown.AnnotationOrphanedFrom: "shop/ns/acme/a", wellknown.AnnotationOrphanedReason: wellknown.ReasonNodeDeleted})
		return &snapshot{hub: "shop", objects: map[string]*unstructured.Unstructured{"ConfigMap/ns/a": o}}
	}
	if wrong := orphan().remains(1); len(wrong) > 0 {
		t.Errorf("one orphan: %q", wrong)
	}
	for what, harm := range map[string]func(*snapshot){
		"lynqnode-acme is still there":    func(o *snapshot) { o.nodes = s.nodes },
		"the hub's record is still there": func(o *snapshot) { o.record = s.record },
		"the hub's Lease is still there":  func(o *snapshot) { o.lease = s.lease },
		"0 objects are left, want 1":      func(o *snapshot) { o.objects = nil },
		"ConfigMap/ns/a is no orphan":     func(o *snapshot) { o.objects["ConfigMap/ns/a"].SetAnnotations(nil) },
		"is no orphan of a deleted node: ": func(o *snapshot) {
			o.objects["ConfigMap/ns/a"].SetLabels(map[string]string{wellknown.LabelOrphaned: "true", wellknown.LabelHub: "shop"})
		},
	} {
		t.Run(what, func(t *testing.T) {
			o := orphan()
			harm(o)
			if got := strings.Join(o.remains(1), "\n"); !strings.Contains(got, what) {
				t.Errorf("found %q, want %q in it", got, what)
			}
		})
	}
}
