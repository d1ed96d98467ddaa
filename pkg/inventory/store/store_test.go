package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// golden returns a ConfigMap from testdata.
func golden(t *testing.T, name string) *corev1.ConfigMap {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var cm corev1.ConfigMap
	if err := yaml.Unmarshal(text, &cm); err != nil {
		t.Fatal(err)
	}
	return &cm
}

func acme(t *testing.T) *inventory.Inventory {
	t.Helper()
	inv, err := inventory.Decode(golden(t, "acme.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func customers(t *testing.T) *inventory.Hub {
	t.Helper()
	h, err := inventory.DecodeHub(golden(t, "hub.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// many returns an inventory with n objects.
func many(t *testing.T, n int) *inventory.Inventory {
	t.Helper()
	inv := acme(t)
	written := inv.Entries[0]
	inv.Entries = make([]inventory.Entry, n)
	for i := range inv.Entries {
		inv.Entries[i] = written
		inv.Entries[i].Name, inv.Entries[i].ID = fmt.Sprintf("%s-%06d", written.Name, i), fmt.Sprintf("%s-%06d", written.ID, i)
	}
	return inv
}

// here returns acme in a test's namespace, with a hub that no other test has.
func (a *api) here(t *testing.T) *inventory.Inventory {
	t.Helper()
	inv := acme(t)
	inv.Node.Namespace, inv.Node.Hub.Name = a.Namespace, a.Namespace
	return inv
}

func save(t *testing.T, s *store.Store, inv *inventory.Inventory) *inventory.Inventory {
	t.Helper()
	saved, err := s.Save(t.Context(), inv)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

func nodes(t *testing.T, s *store.Store, hub string) []*inventory.Inventory {
	t.Helper()
	all, err := s.Nodes(t.Context(), lynq.HubKey{Namespace: "shop", Name: hub})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestStore creates, changes and deletes an inventory, and counts the requests.
func TestStore(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	s := store.New(a.Client.ConfigMaps())
	inv := a.here(t)

	saved := save(t, s, inv)
	a.SameRequests(t, "a first save", "create")
	if saved.UID == "" || saved.ResourceVersion == "" || inv.UID != "" {
		t.Errorf("saved %+v of %+v", saved, inv)
	}
	if diff := cmp.Diff([]*inventory.Inventory{saved}, nodes(t, s, inv.Node.Hub.Name)); diff != "" {
		t.Errorf("loaded (-saved +loaded):\n%s", diff)
	}
	a.SameRequests(t, "a load", "list")

	// Another client adds a label after the read.
	a.Kubectl(t, "", "label", "configmap/lynqnode-acme-web", "team=red")
	loaded := nodes(t, s, inv.Node.Hub.Name)[0]
	a.Requests()
	loaded.Activate = "false"
	saved = save(t, s, loaded)
	a.SameRequests(t, "an update", "update")
	if diff := cmp.Diff([]*inventory.Inventory{saved}, nodes(t, s, inv.Node.Hub.Name)); diff != "" {
		t.Errorf("loaded again (-saved +loaded):\n%s", diff)
	}
	a.Equal(t, "configmap/lynqnode-acme-web", ".metadata.labels.team", "red")
	a.Owners(t, "configmap/lynqnode-acme-web", ".data.resources", "lynq Update")
	a.Requests()

	if err := s.Remove(t.Context(), saved, permit(t, saved)); err != nil {
		t.Fatal(err)
	}
	a.SameRequests(t, "a removal", "delete", "patch")
	a.Absent(t, "configmap/lynqnode-acme-web")
	if err := s.Remove(t.Context(), saved, permit(t, saved)); err != nil {
		t.Errorf("removed twice: %v", err)
	}
	saved.Finalizer = false
	if err := s.Remove(t.Context(), saved, permit(t, saved)); err != nil {
		t.Errorf("removed twice: %v", err)
	}
}

// TestLargest checks that the server accepts the largest allowed inventory.
func TestLargest(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	n := sort.Search(1<<16, func(n int) bool {
		_, err := inventory.Encode(many(t, n))
		return err != nil
	})
	inv := many(t, n-1)
	inv.Node.Namespace, inv.Node.Hub.Name = a.Namespace, a.Namespace
	inv.Status.Conditions[0].Message = strings.Repeat("x", 31<<10)
	save(t, store.New(a.Client.ConfigMaps()), inv)
}

// TestTooLargeIsNotSent checks that lynqctl sends no request for a too large one.
func TestTooLargeIsNotSent(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	var large *inventory.TooLargeError
	if _, err := store.New(a.Client.ConfigMaps()).Save(t.Context(), many(t, 5000)); !errors.As(err, &large) {
		t.Errorf("got %v", err)
	}
	a.SameRequests(t, "a record that is too large")
}

// TestAnswersLost checks that a write with a lost answer finds its own effect.
func TestAnswersLost(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	s := store.New(a.Client.ConfigMaps())
	inv, hub := a.here(t), customers(t)
	hub.Namespace, hub.Name = a.Namespace, a.Namespace
	lose := func(verb string) {
		a.Requests()
		a.Proxy.SetRules(faultproxy.Rule{Verb: verb, Resource: "configmaps", End: faultproxy.CutAfter, Times: 1})
	}

	lose("create")
	saved := save(t, s, inv)
	a.SameRequests(t, "a create", "create", "create", "get")
	lose("update")
	saved.Activate = "false"
	saved = save(t, s, saved)
	a.SameRequests(t, "an update", "update", "update", "get")
	a.Proxy.SetRules()
	if diff := cmp.Diff([]*inventory.Inventory{saved}, nodes(t, s, inv.Node.Hub.Name)); diff != "" {
		t.Errorf("loaded (-saved +loaded):\n%s", diff)
	}

	lose("create")
	record, err := s.SaveHub(t.Context(), hub)
	if err != nil {
		t.Fatal(err)
	}
	lose("update")
	record.Rows++
	if record, err = s.SaveHub(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	lose("get")
	loaded, err := s.LoadHub(t.Context(), hub.Namespace, hub.Name)
	if diff := cmp.Diff(record, loaded, cmpopts.IgnoreUnexported(inventory.Hub{})); err != nil || diff != "" {
		t.Errorf("hub: %v (-saved +loaded):\n%s", err, diff)
	}

	lose("patch") // the patch of the finalizer
	if err := s.Remove(t.Context(), saved, permit(t, saved)); err != nil {
		t.Error(err)
	}
	a.SameRequests(t, "a removal", "delete", "patch", "patch")
	a.Absent(t, "configmap/lynqnode-acme-web")
	saved = save(t, s, inv)
	lose("delete")
	if err := s.Remove(t.Context(), saved, permit(t, saved)); err != nil {
		t.Error(err)
	}
	a.SameRequests(t, "a removal whose deletion was not answered", "delete", "delete", "get", "patch")
	a.Absent(t, "configmap/lynqnode-acme-web")
	lose("delete")
	if err := s.RemoveHub(t.Context(), record, permitHub(t, record)); err != nil {
		t.Error(err)
	}
	a.Absent(t, "configmap/"+inventory.HubName(hub.Name))
}

// TestChanged checks that lynqctl doesn't overwrite another client's change.
func TestChanged(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	s := store.New(a.Client.ConfigMaps())
	inv := a.here(t)
	saved := save(t, s, inv)
	refused := func(what string, err error, want string) {
		t.Helper()
		var changed *store.ChangedError
		if !errors.As(err, &changed) || changed.Name != "lynqnode-acme-web" || changed.Namespace != a.Namespace || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v\nwant %s", what, err, want)
		}
	}

	again := a.here(t)
	again.Node.UID = "another"
	_, err := s.Save(t.Context(), again)
	refused("create", err, "save the inventory of node "+a.Namespace+"/acme-web: ConfigMap "+a.Namespace+"/lynqnode-acme-web: hub shop/"+a.Namespace+` already has a node with this name, of form forms/web and row "acme" (rename form forms/web or row "another", or use another namespace)`)

	a.Kubectl(t, "", "label", "configmap/lynqnode-acme-web", "lynq.sh/hub-")
	_, err = s.Save(t.Context(), again)
	refused("create without the label", err, "/lynqnode-acme-web: it exists, and lynqctl can't read it: label lynq.sh/hub: it is missing (restore its labels, or delete it if lynqctl didn't create it)")
	a.Kubectl(t, "", "create", "configmap", "lynqnode-bare-web")
	bare := a.here(t)
	bare.Node.Name, bare.Node.UID = "bare-web", "bare"
	_, err = s.Save(t.Context(), bare)
	if want := "save the inventory of node " + a.Namespace + "/bare-web: ConfigMap " + a.Namespace + `/lynqnode-bare-web: it exists, and isn't an inventory, because its label lynq.sh/record isn't "node" (restore its labels, or delete it if lynqctl didn't create it)`; err == nil || err.Error() != want {
		t.Errorf("create, and the name is taken: got %v\nwant %s", err, want)
	}
	_, err = s.Reread(t.Context(), saved)
	refused("read again without the label", err, "can't read it")
	a.Kubectl(t, "", "label", "configmap/lynqnode-acme-web", "lynq.sh/hub="+inv.Node.Hub.Name, "example.com/by=others")
	if next, err := s.Reread(t.Context(), saved); err != nil || next.Others.Labels["example.com/by"] != "others" || next.ResourceVersion == saved.ResourceVersion {
		t.Errorf("read again after another client's label: %+v, %v", next, err)
	}
	saved.Activate = "false"
	_, err = s.Reread(t.Context(), saved)
	refused("read again, and lynqctl's fields changed", err, "another client changed it meanwhile (run again)")
	_, err = s.Save(t.Context(), saved)
	refused("update", err, "another client changed it meanwhile (run again)")
	if !apierrors.IsConflict(err) {
		t.Errorf("what the server said is not in %v", err)
	}
	refused("remove", s.Remove(t.Context(), saved, permit(t, saved)), "another client changed it meanwhile, so lynqctl didn't delete it (run again)")
	saved.Finalizer = false
	refused("remove without finalizer", s.Remove(t.Context(), saved, permit(t, saved)), "another client changed it meanwhile, so lynqctl didn't delete it (run again)")

	// Another ConfigMap with this name has the same content.
	a.Kubectl(t, "", "patch", "configmap/lynqnode-acme-web", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	a.Kubectl(t, "", "delete", "configmap/lynqnode-acme-web")
	_, err = s.Save(t.Context(), saved)
	refused("update of a deleted one", err, "another client deleted it meanwhile (run again)")
	_, err = s.Reread(t.Context(), saved)
	refused("read a deleted one again", err, "another client deleted it meanwhile (run again)")
	save(t, s, a.here(t))
	saved.Activate, saved.Finalizer = "true", true
	_, err = s.Save(t.Context(), saved)
	refused("update of another", err, "another client changed it meanwhile (run again)")
}

// TestRemoveDeleting checks that an inventory in deletion disappears with its finalizer,
// or after others remove theirs.
func TestRemoveDeleting(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	s := store.New(a.Client.ConfigMaps())
	inv := a.here(t)
	for _, others := range [][]string{nil, {"example.com/keep"}} {
		inv.Others = &inventory.Others{Finalizers: others}
		save(t, s, inv)
		a.Kubectl(t, "", "delete", "configmap/lynqnode-acme-web", "--wait=false")
		deleting := nodes(t, s, inv.Node.Hub.Name)[0]
		if !deleting.Deleting {
			t.Errorf("not deleting: %+v", deleting)
		}
		a.Requests()
		a.Proxy.SetRules(faultproxy.Rule{Verb: "patch", End: faultproxy.CutAfter, Times: 1})
		if err := s.Remove(t.Context(), deleting, permit(t, deleting)); err != nil {
			t.Error(err)
		}
		a.Proxy.SetRules()
	}
	a.SameRequests(t, "a removal that others hold up", "patch", "patch", "get")
	a.Equal(t, "configmap/lynqnode-acme-web", ".metadata.finalizers", `["example.com/keep"]`)
	a.Kubectl(t, "", "patch", "configmap/lynqnode-acme-web", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
}

// TestFinalizerElsewhere removes the finalizer at any position, and nothing else. Another
// client's ConfigMap with this name keeps its finalizer.
func TestFinalizerElsewhere(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	s := store.New(a.Client.ConfigMaps())
	saved := save(t, s, a.here(t))
	a.Kubectl(t, "", "patch", "configmap/lynqnode-acme-web", "--type=json", "-p", `[{"op":"add","path":"/metadata/finalizers/0","value":"example.com/keep"}]`)
	saved = nodes(t, s, saved.Node.Hub.Name)[0]
	a.Requests()
	if err := s.Remove(t.Context(), saved, permit(t, saved)); err != nil {
		t.Error(err)
	}
	a.SameRequests(t, "a removal", "delete", "patch", "get", "patch")
	a.Equal(t, "configmap/lynqnode-acme-web", ".metadata.finalizers", `["example.com/keep"]`)
	a.Kubectl(t, "", "patch", "configmap/lynqnode-acme-web", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	another := save(t, s, a.here(t))
	if err := s.Remove(t.Context(), saved, permit(t, saved)); err != nil {
		t.Error(err)
	}
	a.Equal(t, "configmap/lynqnode-acme-web", ".metadata.uid", another.UID)
	if got := nodes(t, s, another.Node.Hub.Name)[0]; got.Deleting || !got.Finalizer {
		t.Errorf("another record was touched: %+v", got)
	}
}

// TestBrokenRecords checks that all broken inventories are reported, and all others
// returned.
func TestBrokenRecords(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	s := store.New(a.Client.ConfigMaps())
	for _, node := range []string{"c", "b", "a", "d"} {
		inv := a.here(t)
		inv.Node.UID, inv.Node.Name, inv.Finalizer = node, node+"-web", false
		save(t, s, inv)
	}
	a.Kubectl(t, "", "patch", "configmap/lynqnode-c-web", "--type=merge", "-p", `{"data":{"format":"2"}}`)
	a.Kubectl(t, "", "patch", "configmap/lynqnode-a-web", "--type=merge", "-p", `{"data":{"resources":"[\n{}\n]"}}`)
	all, err := s.Nodes(t.Context(), lynq.HubKey{Namespace: "shop", Name: a.Namespace})
	var broken *inventory.BrokenError
	if !errors.As(err, &broken) || len(broken.Inventories) != 2 || broken.Inventories[0].Node.Name != "a-web" || broken.Inventories[1].Node.Name != "c-web" {
		t.Fatalf("got %v", err)
	}
	var newer *inventory.NewerFormatError
	if !errors.As(err, &newer) {
		t.Errorf("the newer format is not in %v", err)
	}
	want := fmt.Sprintf("ConfigMap %[1]s/lynqnode-a-web: data.resources line 2: it has no key (restore it as it was, or remove its finalizers and delete it with --cascade=orphan if lynqctl never made it; until then, lynqctl changes nothing of node %[1]s/a-web)\n"+
		"ConfigMap %[1]s/lynqnode-c-web: data.format: a newer lynqctl wrote it: it has format 2, and this lynqctl knows 1 (use that lynqctl; this one changes nothing of node %[1]s/c-web)", a.Namespace)
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	var names []string
	for _, inv := range all {
		names = append(names, inv.Node.Name)
	}
	if diff := cmp.Diff([]string{"b-web", "d-web"}, names); diff != "" {
		t.Errorf("the others (-want +got):\n%s", diff)
	}
}

// TestNoAccess checks that an error never counts as an empty answer.
func TestNoAccess(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	s := store.New(a.Client.ConfigMaps())
	inv, hub := a.here(t), customers(t)
	hub.Namespace, hub.Name = a.Namespace, a.Namespace
	saved := save(t, s, inv)
	for _, tt := range []struct {
		what string
		do   func(context.Context) (any, error)
	}{
		{"list the inventories of hub", func(ctx context.Context) (any, error) { return s.Nodes(ctx, inv.Node.Hub) }},
		{"save the inventory of node", func(ctx context.Context) (any, error) { return s.Save(ctx, inv) }},
		{"save the inventory of node", func(ctx context.Context) (any, error) { return s.Save(ctx, saved) }},
		{"read the record of hub", func(ctx context.Context) (any, error) { return s.LoadHub(ctx, hub.Namespace, hub.Name) }},
		{"save the record of hub", func(ctx context.Context) (any, error) { return s.SaveHub(ctx, hub) }},
		{"remove the inventory of node", func(ctx context.Context) (any, error) { return nil, s.Remove(ctx, saved, permit(t, saved)) }},
		{"remove the inventory of node", func(ctx context.Context) (any, error) {
			bare := saved.Clone()
			bare.Finalizer = false
			return nil, s.Remove(ctx, bare, permit(t, bare))
		}},
	} {
		a.Proxy.SetRules(faultproxy.Rule{Status: 403})
		_, err := tt.do(t.Context())
		if !apierrors.IsForbidden(err) || !strings.HasPrefix(err.Error(), tt.what) {
			t.Errorf("%s: got %v", tt.what, err)
		}
	}
	// If lynqctl can't read its own effect, it doesn't know the effect.
	a.Proxy.SetRules(faultproxy.Rule{Verb: "get", Status: 403})
	if _, err := s.Save(t.Context(), inv); !apierrors.IsAlreadyExists(err) || !strings.Contains(err.Error(), "and it can't be read") {
		t.Errorf("got %v", err)
	}
	a.Proxy.SetRules(faultproxy.Rule{Verb: "get", Status: 404})
	if _, err := s.Save(t.Context(), inv); err == nil || !strings.Contains(err.Error(), "another client deleted it meanwhile") {
		t.Errorf("got %v", err)
	}
	a.Proxy.SetRules()
	inv.Node.Namespace += "-none"
	if _, err := s.Save(t.Context(), inv); err == nil || !strings.Contains(err.Error(), `namespaces "`+inv.Node.Namespace+`" not found`) {
		t.Errorf("got %v", err)
	}
	for _, hub := range []string{"", "a,b", "a=b"} {
		if _, err := s.Nodes(t.Context(), lynq.HubKey{Namespace: "shop", Name: hub}); err == nil {
			t.Errorf("%q is taken for a hub", hub)
		}
	}
}

// later returns the record of the next run.
func later(h *inventory.Hub) *inventory.Hub {
	next := *h
	next.Time = h.Time.Add(time.Hour)
	return &next
}

// TestHubRecord creates, changes and deletes a hub record, and counts the requests.
func TestHubRecord(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	s := store.New(a.Client.ConfigMaps())
	if h, err := s.LoadHub(t.Context(), a.Namespace, "customers"); h != nil || err != nil {
		t.Errorf("got %v, %v", h, err)
	}
	a.SameRequests(t, "no record", "get")
	h := customers(t)
	h.Namespace = a.Namespace
	saved, err := s.SaveHub(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	a.SameRequests(t, "a first save", "create")
	a.Kubectl(t, "", "annotate", "configmap/lynqhub-customers", "note=x")
	again, err := s.SaveHub(t.Context(), later(saved)) // only fields of others changed
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.SaveHub(t.Context(), later(later(saved))); err == nil || !strings.Contains(err.Error(), "another client changed it") {
		t.Errorf("got %v", err)
	}
	if _, err = s.SaveHub(t.Context(), later(later(h))); err == nil || !strings.Contains(err.Error(), "another run created it meanwhile (run again)") {
		t.Errorf("got %v", err)
	}
	loaded, err := s.LoadHub(t.Context(), a.Namespace, "customers")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(again, loaded, cmpopts.IgnoreFields(inventory.Hub{}, "ResourceVersion", "Others"), cmpopts.IgnoreUnexported(inventory.Hub{})); diff != "" {
		t.Errorf("(-saved +loaded):\n%s", diff)
	}
	a.Requests()
	if _, err = s.SaveHub(t.Context(), later(loaded)); err != nil {
		t.Error(err)
	}
	a.SameRequests(t, "an update", "update")
	a.Equal(t, "configmap/lynqhub-customers", ".metadata.annotations.note", "x")
	a.Equal(t, "configmap/lynqhub-customers", ".data.time", "2026-07-01T14:00:00Z")
	a.Kubectl(t, "", "patch", "configmap/lynqhub-customers", "--type=merge", "-p", `{"metadata":{"finalizers":null},"data":{"rows":"x"}}`)
	if _, err := s.LoadHub(t.Context(), a.Namespace, "customers"); err == nil || !strings.Contains(err.Error(), "data.rows: invalid character") {
		t.Errorf("got %v", err)
	}
}

// TestApprovedMeanwhile checks that an approval during a run isn't lost, and doesn't fail
// the run. Any other change does.
func TestApprovedMeanwhile(t *testing.T) {
	t.Parallel()
	const record, approved = "configmap/lynqhub-customers", `.metadata.annotations.lynq\.sh/approved`
	a := newAPI(t)
	s := store.New(a.Client.ConfigMaps())
	h := customers(t)
	h.Namespace, h.Held = a.Namespace, &inventory.HeldDeletions{Guard: "max-delete", Digest: "d1", Since: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)}
	saved, err := s.SaveHub(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	a.Kubectl(t, "", "annotate", record, "lynq.sh/approved=d1")
	a.Requests()
	if saved, err = s.SaveHub(t.Context(), later(saved)); err != nil {
		t.Fatal(err)
	}
	a.SameRequests(t, "approved meanwhile", "update", "get", "get", "update")
	if saved.Approved != "d1" {
		t.Errorf("it is saved with %+v", saved)
	}
	a.Equal(t, record, approved, "d1")
	a.Equal(t, record, ".data.time", "2026-07-01T13:00:00Z")

	used := later(saved) // the run carried out the approved deletions
	used.Held, used.Approved = nil, ""
	a.Kubectl(t, "", "annotate", record, "note=x", "lynq.sh/approved=d2", "--overwrite")
	if saved, err = s.SaveHub(t.Context(), used); err != nil || saved.Approved != "d2" || saved.Held != nil {
		t.Errorf("another approval came meanwhile: %+v, %v", saved, err)
	}
	a.Equal(t, record, approved, "d2")
	a.Equal(t, record, ".metadata.annotations.note", "x")
	saved.Approved = ""
	if _, err = s.SaveHub(t.Context(), saved); err != nil {
		t.Error(err)
	}
	a.Equal(t, record, approved, "")

	loaded, err := s.LoadHub(t.Context(), a.Namespace, "customers")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.SaveHub(t.Context(), later(loaded)); err != nil {
		t.Error(err)
	}
	a.Kubectl(t, "", "annotate", record, "lynq.sh/approved=d3")
	if _, err := s.SaveHub(t.Context(), loaded); err == nil || !strings.Contains(err.Error(), "another client changed it") {
		t.Errorf("another run saved it meanwhile: %v", err)
	}
}

// TestApplySetParent checks that the server stores the encoded labels, and that kubectl
// finds the ConfigMap by its ApplySet id.
func TestApplySetParent(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	inv := save(t, store.New(a.Client.ConfigMaps()), a.here(t))
	id := inventory.ID(inv.Node.Namespace, inventory.Name(inv.Node.Name))
	got := a.Kubectl(t, "", "get", "configmaps", "-l", wellknown.LabelApplySetID+"="+id, "-o", "name")
	if got != "configmap/lynqnode-acme-web\n" {
		t.Errorf("got %q", got)
	}
	cm, err := a.Client.ConfigMaps().Get(t.Context(), inv.Node.Namespace, "lynqnode-acme-web")
	if err != nil {
		t.Fatal(err)
	}
	want, err := inventory.Encode(inv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, cm, cmpopts.IgnoreFields(corev1.ConfigMap{}, "TypeMeta"),
		cmpopts.IgnoreFields(metav1.ObjectMeta{}, "CreationTimestamp", "ManagedFields")); diff != "" {
		t.Errorf("(-encoded +stored):\n%s", diff)
	}
}

// permit returns a permit for the inventory of a node without objects.
func permit(t *testing.T, inv *inventory.Inventory) decide.Permit {
	t.Helper()
	p, err := decide.PermitInventory((&plan.NodePlan{}), inv, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func permitHub(t *testing.T, h *inventory.Hub) decide.Permit {
	t.Helper()
	p, err := decide.PermitHub(h, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
