package orphan_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

func partOf(namespace, node string) string { return inventory.ID(namespace, inventory.Name(node)) }

// change changes an object's metadata.
type change func(*metav1.ObjectMeta)

func labelled(namespace, node string) change {
	return func(m *metav1.ObjectMeta) {
		m.Labels[wellknown.LabelNodeNamespace], m.Labels[wellknown.LabelNode] = namespace, node
	}
}

func owned(node string) change {
	return func(m *metav1.ObjectMeta) {
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: inventory.Name(node), UID: "record"}}
	}
}

func written(m *metav1.ObjectMeta) {
	m.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: wellknown.FieldManager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1",
		FieldsV1: metav1.NewFieldsV1(`{"f:data":{}}`),
	}}
}

// tracked returns an object that a node tracks, with some changes.
func tracked(kind, namespace, name, partOf string, changes ...change) object {
	o := object{kind: kind, meta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(kind + "/" + namespace + "/" + name),
		Labels: map[string]string{wellknown.LabelHub: "crm", wellknown.LabelPartOf: partOf},
		Annotations: map[string]string{
			wellknown.AnnotationDeletionPolicy: "Delete", wellknown.AnnotationResourceID: "id",
		},
	}}
	for _, c := range changes {
		c(&o.meta)
	}
	return o
}

// record returns an inventory of a node of hub crm.
func record(namespace, node string, entries ...inventory.Entry) *inventory.Inventory {
	return &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: namespace, Name: node}, Entries: entries}
}

// named returns the entry of a written object.
func named(o object) inventory.Entry {
	return inventory.Entry{
		Ref: lynq.Ref{Kind: o.kind, Namespace: o.meta.Namespace, Name: o.meta.Name},
		ID:  "id", APIVersion: "v1", UID: string(o.meta.UID), Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete},
	}
}

func TestStranded(t *testing.T) {
	known, other := partOf("shop", "acme-web"), partOf("shop", "gone-web")
	stranded := func(ref, from string) string { return ref + " Stranded unknown " + from + " Delete" }
	secret := tracked("Secret", "shop", "s", known, owned("acme-web"))
	for _, test := range []struct {
		name    string
		object  object
		records []*inventory.Inventory
		want    string // "" if it isn't stranded
	}{
		{"recorded", secret, []*inventory.Inventory{record("shop", "acme-web", named(secret))}, ""},
		{"recorded by another node", secret, []*inventory.Inventory{record("shop", "bolt-web", named(secret))}, ""},
		{"its node is there and does not name it", secret, []*inventory.Inventory{record("shop", "acme-web")}, stranded("Secret/shop/s", "crm/shop/acme-web/id")},
		{"its node is gone", secret, nil, stranded("Secret/shop/s", "crm/shop/acme-web/id")},
		{"labels tell the node", tracked("Secret", "far", "s", other, labelled("shop", "gone-web")), nil, stranded("Secret/far/s", "crm/shop/gone-web/id")},
		{"labels of one node, part of another that is there", tracked("Secret", "far", "s", known, labelled("shop", "gone-web")),
			[]*inventory.Inventory{record("shop", "acme-web")}, stranded("Secret/far/s", "crm/shop/acme-web/id")},
		{"part of an ApplySet of another tool", tracked("Secret", "far", "s", "applyset-theirs-v1", labelled("shop", "gone-web"), written), nil, ""},
		{"nothing but part-of, which a record has", tracked("Secret", "shop", "s", known),
			[]*inventory.Inventory{record("shop", "acme-web")}, stranded("Secret/shop/s", "crm/shop/acme-web/id")},
		{"nothing but part-of, and we wrote it", tracked("Secret", "shop", "s", other, written), nil, stranded("Secret/shop/s", "crm///id")},
		{"nothing but part-of, and another tool wrote it", tracked("Secret", "shop", "s", other), nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := &memory{kinds: []lynq.APIResource{kind("", "Secret")}, objects: []object{test.object}, inventories: test.records}
			found := mustFind(t, m, orphan.Query{Stranded: m, Filter: orphan.Filter{Reasons: []string{orphan.ReasonStranded}}})
			if got := strings.Join(texts(found), "\n"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if len(found.Warnings()) > 0 {
				t.Errorf("warns of %q", found.Warnings())
			}
			if found = mustFind(t, m, orphan.Query{}); len(found.Orphans) != 0 {
				t.Errorf("found %q though nobody asked", texts(found))
			}
		})
	}
}

// TestStrandedIgnores checks that an inventory counts only in the namespaces that its
// hub's record names. Objects of other nodes are reported neither as stranded nor as gone.
func TestStrandedIgnores(t *testing.T) {
	secret := tracked("Secret", "shop", "s", partOf("shop", "acme-web"), owned("acme-web"))
	own := tracked("Secret", "evil", "own", partOf("evil", "ghost-web"), labelled("evil", "ghost-web"))
	torn := tracked("Secret", "evil", "torn", partOf("evil", "torn-web"), labelled("evil", "torn-web"))
	missing := object{kind: "Secret"}
	missing.meta.Namespace, missing.meta.Name, missing.meta.UID = "shop", "missing", "missing"
	ghost := record("evil", "ghost-web", named(secret), named(own), named(missing))
	ghost.Node.Hub.Namespace = "shop"
	m := &memory{
		kinds: []lynq.APIResource{kind("", "Secret")}, objects: []object{secret, own, torn},
		inventories: []*inventory.Inventory{ghost},
		broken:      []*inventory.UnreadableError{{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Namespace: "evil", Name: "torn-web"}, Name: "lynqnode-torn-web", Err: errors.New("torn")}},
		hubs:        []*inventory.Hub{{Namespace: "shop", Name: "crm", UID: "1"}},
	}
	found := mustFind(t, m, orphan.Query{Stranded: m})
	wantTexts(t, found, "Secret/shop/s Stranded unknown crm/shop/acme-web/id Delete")
	if w := found.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0], "hub shop/crm: 2 inventories ignored, ") || len(found.Broken) > 0 {
		t.Errorf("warnings %q, broken %v", w, found.Broken)
	}
	if w := mustFind(t, m, orphan.Query{Stranded: m, Filter: orphan.Filter{Hubs: []string{"erp"}}}).Warnings(); len(w) > 0 {
		t.Errorf("another hub was asked for: %q", w)
	}

	// All inventories count if the hub's record names their namespaces or can't be read.
	for name, change := range map[string]func(){
		"it names the namespace": func() { m.hubs[0].Namespaces = []string{"evil"} },
		"it doesn't exist":       func() { m.hubs = nil },
		"this user can't read it": func() {
			m.fail = map[string]error{"hubs ": apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", nil)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			change()
			wantTexts(t, mustFind(t, m, orphan.Query{Stranded: m}), "Secret/shop/missing ObjectGone unknown crm/evil/ghost-web/id Delete")
			if t.Failed() {
				t.Fatal(name)
			}
			m.hubs = []*inventory.Hub{{Namespace: "shop", Name: "crm", UID: "1"}}
		})
	}
	m.fail = map[string]error{"hubs ": errors.New("it is away")}
	if _, err := orphan.Find(t.Context(), m, orphan.Query{Stranded: m}); err == nil {
		t.Error("records of hubs that can't be read say nothing")
	}
}

func TestStrandedTellsObjectsOnce(t *testing.T) {
	service := tracked("Service", "shop", "web", partOf("shop", "acme-web"), owned("acme-web"))
	endpoints := tracked("Endpoints", "shop", "web", partOf("shop", "acme-web"))
	endpoints.meta.Annotations = nil
	slice := tracked("EndpointSlice", "shop", "web-x", partOf("shop", "acme-web"), func(m *metav1.ObjectMeta) {
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Service", Name: "web", UID: service.meta.UID}}
	})
	both := tracked("Secret", "shop", "s", partOf("shop", "acme-web"), owned("acme-web"))
	both.meta.Labels[wellknown.LabelOrphaned] = "true"
	m := &memory{
		kinds:       []lynq.APIResource{kind("", "Endpoints"), kind("", "Secret"), kind("", "Service"), kind("discovery.k8s.io", "EndpointSlice")},
		objects:     []object{endpoints, slice, service, both},
		inventories: []*inventory.Inventory{record("shop", "acme-web")},
	}
	wantTexts(t, mustFind(t, m, orphan.Query{Stranded: m}),
		"Secret/shop/s  unknown crm///id Delete",
		"Service/shop/web Stranded unknown crm/shop/acme-web/id Delete")
	m.inventories[0].Entries = []inventory.Entry{named(service)}
	wantTexts(t, mustFind(t, m, orphan.Query{Stranded: m}), "Secret/shop/s  unknown crm///id Delete")
}

// TestStrandedLooksAgain simulates a run that creates and deletes objects between two
// requests.
func TestStrandedLooksAgain(t *testing.T) {
	secret := tracked("Secret", "shop", "s", partOf("shop", "acme-web"), owned("acme-web"))
	for name, later := range map[string]func(*memory){
		"deleted":  func(m *memory) { m.objects = nil },
		"replaced": func(m *memory) { m.objects[0].meta.UID = "other" },
		"released": func(m *memory) { m.objects[0].meta.Labels = nil },
		"orphaned": func(m *memory) {
			m.objects[0].meta.Labels = map[string]string{wellknown.LabelHub: "crm", wellknown.LabelOrphaned: "true"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &memory{kinds: []lynq.APIResource{kind("", "Secret")}, objects: []object{secret}, later: later}
			wantTexts(t, mustFind(t, m, orphan.Query{Stranded: m}))
			if t.Failed() {
				t.Fatal(name)
			}
		})
	}
	// If the second read is forbidden, the first one counts.
	m := &memory{kinds: []lynq.APIResource{kind("", "Secret")}, objects: []object{secret}, fail: map[string]error{"get Secret": forbidden("secrets")}}
	wantTexts(t, mustFind(t, m, orphan.Query{Stranded: m}), "Secret/shop/s Stranded unknown crm/shop/acme-web/id Delete")
	m.fail["get Secret"] = errors.New("the connection broke")
	if _, err := orphan.Find(t.Context(), m, orphan.Query{Stranded: m}); err == nil || !strings.Contains(err.Error(), "look again at Secret/shop/s") {
		t.Errorf("got %v", err)
	}
}

func TestGone(t *testing.T) {
	there := tracked("Secret", "shop", "there", partOf("shop", "acme-web"), owned("acme-web"))
	stripped := tracked("Secret", "shop", "stripped", "")
	stripped.meta.Labels = nil
	missing := tracked("Secret", "shop", "missing", "")
	intended := named(tracked("Secret", "shop", "intended", ""))
	intended.UID = ""
	far, cluster, unlisted := tracked("Secret", "far", "missing", ""), tracked("Namespace", "", "missing", ""), tracked("Widget", "shop", "missing", "")
	unserved := inventory.Entry{Ref: lynq.Ref{Group: "example.com", Kind: "Plan", Namespace: "shop", Name: "x"}, ID: "plan", APIVersion: "example.com/v1", UID: "plan"}
	scoped := tracked("Scoped", "", "once-without-namespace", "")
	m := &memory{
		kinds:       []lynq.APIResource{kind("", "Scoped"), kind("", "Secret"), kind("", "Widget"), clusterKind("", "Namespace")},
		objects:     []object{there, stripped},
		inventories: []*inventory.Inventory{record("shop", "acme-web", named(there), named(stripped), named(missing), intended, named(far), named(cluster), named(unlisted), named(scoped), unserved)},
		fail:        map[string]error{"list Widget": forbidden("widgets")},
	}
	found := mustFind(t, m, orphan.Query{Stranded: m})
	wantTexts(t, found,
		"Namespace/missing ObjectGone unknown crm/shop/acme-web/id Delete",
		"Secret/far/missing ObjectGone unknown crm/shop/acme-web/id Delete",
		"Secret/shop/missing ObjectGone unknown crm/shop/acme-web/id Delete")
	wantWarnings(t, found,
		"these kinds can't be listed, and lynqctl misses orphans among them (list: Forbidden): Widget",
		"these kinds can't be read, and lynqctl doesn't know everything about them (get: not possible): Scoped",
		"these kinds can't be read, and lynqctl doesn't know everything about them (get: not served): Plan.example.com")
	if slices.ContainsFunc(m.requests, func(r string) bool { return r == "get Secret shop/there" || strings.HasPrefix(r, "get Widget") }) {
		t.Errorf("what was listed, or may not be, was read: %q", m.requests)
	}

	wantTexts(t, mustFind(t, m, orphan.Query{Stranded: m, Namespace: "far"}), "Secret/far/missing ObjectGone unknown crm/shop/acme-web/id Delete")
	wantTexts(t, mustFind(t, m, orphan.Query{Stranded: m, Selector: "team=blue"}))
	m.requests = nil
	wantTexts(t, mustFind(t, m, orphan.Query{Stranded: m, Filter: orphan.Filter{Reasons: []string{orphan.ReasonStranded}}}))
	if slices.ContainsFunc(m.requests, func(r string) bool { return strings.HasPrefix(r, "get ") }) {
		t.Errorf("nobody asked for what is gone, and it was looked for: %q", m.requests)
	}

	m.fail["get Secret"] = forbidden("secrets")
	wantTexts(t, mustFind(t, m, orphan.Query{Stranded: m}), "Namespace/missing ObjectGone unknown crm/shop/acme-web/id Delete")
	m.fail["get Secret"] = errors.New("the connection broke")
	if _, err := orphan.Find(t.Context(), m, orphan.Query{Stranded: m}); err == nil {
		t.Error("a connection that breaks is no error")
	}
}

// TestStrandedWithoutInventories reports nothing about nodes with unreadable inventories.
func TestStrandedWithoutInventories(t *testing.T) {
	mine := tracked("Secret", "shop", "mine", partOf("shop", "acme-web"), owned("acme-web"))
	elsewhere := tracked("Secret", "shop", "elsewhere", partOf("hubs", "bolt-web"), labelled("hubs", "bolt-web"))
	anonymous := tracked("Secret", "shop", "anonymous", partOf("hubs", "anon-web"), written)
	all := []object{mine, elsewhere, anonymous}
	kinds := []lynq.APIResource{kind("", "Secret")}

	m := &memory{kinds: kinds, objects: all, broken: []*inventory.UnreadableError{
		{Node: lynq.NodeID{Namespace: "shop", Name: "acme-web"}, Name: inventory.Name("acme-web"), Where: "data.resources", Err: errors.New("it is no JSON")},
		{Node: lynq.NodeID{Namespace: "hubs"}, Name: inventory.Name("anon-web"), Where: "metadata.labels", Err: errors.New("there are none")},
	}}
	found := mustFind(t, m, orphan.Query{Stranded: m})
	wantTexts(t, found, "Secret/shop/elsewhere Stranded unknown crm/hubs/bolt-web/id Delete")
	if got := found.Warnings(); len(got) != 2 || !strings.Contains(got[0], "lynqnode-acme-web: data.resources: it is no JSON") {
		t.Errorf("warns of %q", got)
	}

	// A user who may read only one namespace learns only about its nodes.
	m = &memory{kinds: kinds, objects: all, fail: map[string]error{"inventories ": forbidden("configmaps")}}
	found = mustFind(t, m, orphan.Query{Stranded: m, Namespace: "shop"})
	wantTexts(t, found, "Secret/shop/mine Stranded unknown crm/shop/acme-web/id Delete")
	wantWarnings(t, found, "lynqctl can't list all inventories, and reports no stranded objects of other nodes: "+forbidden("configmaps").Error())

	found = mustFind(t, m, orphan.Query{Stranded: m})
	wantTexts(t, found)
	m.fail["inventories shop"] = forbidden("configmaps")
	found = mustFind(t, m, orphan.Query{Stranded: m, Namespace: "shop"})
	wantTexts(t, found)
	if len(found.Unreadable) != 1 {
		t.Errorf("unreadable are %+v", found.Unreadable)
	}

	m.fail["inventories "] = errors.New("the connection broke")
	if _, err := orphan.Find(t.Context(), m, orphan.Query{Stranded: m}); err == nil {
		t.Error("a connection that breaks is no error")
	}
}
