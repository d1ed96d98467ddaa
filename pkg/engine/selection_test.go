package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// someRecords are hubs crm and shop in namespace ns, each with form web, and
// another crm in namespace far. Of crm's nodes one was deleted and one cannot be
// read.
func someRecords() *records {
	inv := func(namespace, node, hub, hubNamespace, form string, objects ...string) *inventory.Inventory {
		i := &inventory.Inventory{Namespace: namespace, Node: node, Hub: hub, HubNamespace: hubNamespace, Form: form, Finalizer: true}
		for _, o := range objects {
			i.Entries = append(i.Entries, inventory.Entry{Ref: lynq.Ref{Kind: "Secret", Namespace: namespace, Name: o}})
		}
		return i
	}
	deleted := inv("ns", "acme-web", "crm", "ns", "web", "acme")
	deleted.Deleting = true
	foreign := inv("ns", "held-web", "crm", "ns", "web", "held")
	foreign.Deleting, foreign.Finalizer = true, false
	return &records{
		nodes: []*inventory.Inventory{
			deleted, inv("ns", "bolt-web", "crm", "ns", "web", "bolt"), foreign, inv("other", "bolt-queue", "crm", "ns", "queue"),
			inv("forged", "ghost-web", "crm", "ns", "web", "ghost"), // in a namespace in which the hub has no nodes
			inv("ns", "shop-web", "shop", "", "web"), inv("far", "acme-web", "crm", "far", "web"),
		},
		hubs: []*inventory.Hub{{Namespace: "ns", Name: "crm", UID: "crm", Namespaces: []string{"other"}, Finalizer: true}, {Namespace: "far", Name: "crm", Finalizer: true}},
		broken: []*inventory.UnreadableError{{
			Namespace: "ns", Name: "lynqnode-torn-web", Node: "torn-web", Hub: "crm", HubNamespace: "ns", Form: "web",
			Where: "data.resources", Err: errors.New("it is torn"),
		}},
	}
}

// chosen is what a selection gives, in words.
func chosen(s selection, all *records) string {
	hubs, err := s.choose(all)
	if err != nil {
		return "error: " + err.Error()
	}
	var words []string
	for _, h := range hubs {
		var nodes []string
		for k := range h.nodes {
			nodes = append(nodes, k.String())
		}
		slices.Sort(nodes)
		word := fmt.Sprintf("%s/%s %v", h.Namespace, h.Name, nodes)
		if h.record != nil {
			word += " and its record"
		}
		words = append(words, word)
	}
	return strings.Join(words, "; ")
}

func TestRemovalChooses(t *testing.T) {
	for _, tt := range []struct {
		removal removal
		want    string
	}{
		{removal{targets: []Target{{What: "node", Name: "bolt-web", Namespace: "ns"}}}, "ns/crm [ns/bolt-web]"},
		{removal{targets: []Target{{What: "node", Name: "acme-web", Namespace: "far"}}}, "far/crm [far/acme-web]"},
		{removal{targets: []Target{{What: "node", Name: "bolt-we", Namespace: "ns"}}}, `error: there is no node "bolt-we" in namespace ns (did you mean "bolt-web"?)`},
		{removal{targets: []Target{{What: "node", Name: "bolt-queue", Namespace: "ns"}}}, `error: there is no node "bolt-queue" in namespace ns (it is in other: say -n)`},
		{removal{targets: []Target{{What: "node", Name: "x", Namespace: "empty"}}}, `error: there is no node "x" in namespace empty (lynqctl status -A lists what there is)`},
		{removal{targets: []Target{{What: "node", Name: "torn-web", Namespace: "ns"}}}, "error: ConfigMap ns/lynqnode-torn-web: data.resources: it is torn (restore it as it was; until then nothing of node ns/torn-web is touched)"},
		{removal{targets: []Target{{What: "form", Name: "queue"}}}, "ns/crm [other/bolt-queue]"},
		{removal{targets: []Target{{What: "form", Name: "web"}}}, `error: several hubs have a form "web": far/crm, ns/crm, ns/shop (say --hub NAMESPACE/NAME with one of these)`},
		{removal{targets: []Target{{What: "form", Name: "web", Hub: "crm"}}}, `error: several hubs have a form "web": far/crm, ns/crm (say --hub NAMESPACE/NAME with one of these)`},
		{removal{targets: []Target{{What: "form", Name: "web", Hub: "far/crm"}}}, "far/crm [far/acme-web]"},
		{removal{targets: []Target{{What: "form", Name: "far/web"}}}, "far/crm [far/acme-web]"},
		{removal{targets: []Target{{What: "form", Name: "web", Hub: "ns/crn"}}}, `error: there is no node of a form "web" of hub "ns/crn" (lynqctl status -A lists what there is)`},
		{removal{targets: []Target{{What: "form", Name: "web", Hub: "crm", Namespace: "ns"}}}, "ns/crm [ns/acme-web ns/bolt-web ns/held-web ns/torn-web]"},
		{removal{targets: []Target{{What: "form", Name: "web", Hub: "shop"}}}, "ns/shop [ns/shop-web]"},
		{removal{targets: []Target{{What: "form", Name: "job"}}}, `error: hub ns/crm has several forms "job": far/job, ns/job (say one of these in the place of job)`},
		{removal{targets: []Target{{What: "form", Name: "ns/job"}}}, "ns/crm [ns/acme-job]"},
		{removal{targets: []Target{{What: "form", Name: "far/job", Hub: "crm"}}}, "ns/crm [ns/acme-far-job]"},
		{removal{targets: []Target{{What: "form", Name: "wbe", Hub: "shop"}}}, `error: there is no node of a form "wbe" of hub "shop" (did you mean "web"?)`},
		{removal{targets: []Target{{What: "hub", Name: "crm", Namespace: "ns"}}}, "ns/crm [ns/acme-web ns/bolt-web ns/held-web ns/torn-web other/bolt-queue] and its record"},
		{removal{targets: []Target{{What: "hub", Name: "crm", Namespace: "far"}}}, "far/crm [far/acme-web] and its record"},
		{removal{targets: []Target{{What: "hub", Name: "shop", Namespace: "ns"}}}, "ns/shop [ns/shop-web]"},
		{removal{targets: []Target{{What: "hub", Name: "crm", Namespace: "other"}}}, `error: there is no hub "crm" in namespace other (it is in ns, far: say -n)`},
		{removal{targets: []Target{{What: "hub", Name: "crn", Namespace: "ns"}}}, `error: there is no hub "crn" in namespace ns (did you mean "crm"?)`},
	} {
		all := someRecords()
		if strings.HasSuffix(tt.removal.targets[0].Name, "job") { // two forms of one name
			all.nodes = append(all.nodes,
				&inventory.Inventory{Namespace: "ns", Node: "acme-job", Hub: "crm", HubNamespace: "ns", Form: "job"},
				&inventory.Inventory{Namespace: "ns", Node: "acme-far-job", Hub: "crm", HubNamespace: "ns", Form: "job", FormNamespace: "far"})
		}
		if got := chosen(&tt.removal, all); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.removal, got, tt.want)
		}
	}
	all := someRecords()
	all.broken = append(all.broken, &inventory.UnreadableError{Namespace: "ns", Name: "lynqhub-shop", Hub: "shop", Where: "data.rows", Err: errors.New("it is torn")})
	want := "error: ConfigMap ns/lynqhub-shop: data.rows: it is torn (restore it as it was, or take its finalizers off and delete it: the next apply makes it again; until then nothing of this hub is touched)"
	if got := chosen(&removal{targets: []Target{{What: "hub", Name: "shop", Namespace: "ns"}}}, all); got != want {
		t.Errorf("a hub whose record is torn: %s, want %s", got, want)
	}
}

// Several targets go at once. What is not there may be no error, but where a record that
// could not be read may be it.
func TestRemovalOfSeveral(t *testing.T) {
	node := func(name string) Target { return Target{What: "node", Name: name, Namespace: "ns"} }
	torn := someRecords()
	torn.broken[0].Hub = ""
	for _, tt := range []struct {
		removal removal
		all     *records
		want    string
	}{
		{removal{targets: []Target{node("bolt-web"), node("acme-web")}}, someRecords(), "ns/crm [ns/acme-web ns/bolt-web]"},
		{removal{targets: []Target{node("bolt-web"), {What: "hub", Name: "crm", Namespace: "far"}}}, someRecords(), "ns/crm [ns/bolt-web]; far/crm [far/acme-web] and its record"},
		{removal{targets: []Target{{What: "form", Name: "queue"}, node("bolt-web")}}, someRecords(), "ns/crm [ns/bolt-web other/bolt-queue]"},
		{removal{targets: []Target{node("bolt-web"), node("x"), node("y")}}, someRecords(), `error: there is no node "x" in namespace ns (there are acme-web, bolt-web, held-web, shop-web, torn-web)
there is no node "y" in namespace ns (there are acme-web, bolt-web, held-web, shop-web, torn-web)`},
		{removal{targets: []Target{node("bolt-web"), node("x")}, ignoreMissing: true}, someRecords(), "ns/crm [ns/bolt-web]"},
		{removal{targets: []Target{node("x"), {What: "hub", Name: "x", Namespace: "ns"}, {What: "form", Name: "x"}}, ignoreMissing: true}, someRecords(), ""},
		{removal{targets: []Target{node("torn-web")}, ignoreMissing: true}, someRecords(), "error: ConfigMap ns/lynqnode-torn-web: data.resources: it is torn (restore it as it was; until then nothing of node ns/torn-web is touched)"},
		{removal{targets: []Target{{What: "form", Name: "web"}}, ignoreMissing: true}, someRecords(), `error: several hubs have a form "web": far/crm, ns/crm, ns/shop (say --hub NAMESPACE/NAME with one of these)`},
		{removal{targets: []Target{node("torn-web")}, ignoreMissing: true}, torn, `error: whether there is a node "torn-web" is not known, since an inventory cannot be read: ConfigMap ns/lynqnode-torn-web: data.resources: it is torn (restore it as it was; until then nothing of node ns/torn-web is touched)`},
		{removal{targets: []Target{{What: "hub", Name: "x", Namespace: "ns"}}, ignoreMissing: true}, torn, `error: whether there is a hub "x" is not known, since an inventory cannot be read: ConfigMap ns/lynqnode-torn-web: data.resources: it is torn (restore it as it was; until then nothing of node ns/torn-web is touched)`},
	} {
		if got := chosen(&tt.removal, tt.all); got != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.removal, got, tt.want)
		}
	}
}

// A hub's name is typed; nodes and forms need a yes.
func TestRemovalAsks(t *testing.T) {
	node, form, hub := Target{What: "node", Name: "a"}, Target{What: "form", Name: "web"}, Target{What: "hub", Name: "crm", Namespace: "shop"}
	for _, tt := range []struct {
		targets  []Target
		question string
		typed    []string
	}{
		{[]Target{node}, "Delete node a", nil},
		{[]Target{node, {What: "node", Name: "b"}}, "Delete node a, node b", nil},
		{[]Target{form}, "Delete form web: 3 nodes", nil},
		{[]Target{hub, node}, "Delete hub crm, node a: 3 nodes", []string{"crm"}},
	} {
		r := removal{targets: tt.targets}
		if got := r.question(3); got != tt.question || !slices.Equal(r.typed(), tt.typed) {
			t.Errorf("%+v: %q, typed %q", tt.targets, got, r.typed())
		}
	}
}

func TestCompletionChooses(t *testing.T) {
	tornToo := func(all *records) { all.broken[0].Deleting = true }
	hubToo := func(all *records) { all.hubs[0].Deleting = true }
	forgedToo := func(all *records) {
		all.nodes[4].Deleting = true
		all.broken = append(all.broken, &inventory.UnreadableError{Namespace: "forged", Name: "nonsense", Hub: "crm", HubNamespace: "ns", Deleting: true})
	}
	secret := func(namespace, name string) map[lynq.Ref]bool {
		return map[lynq.Ref]bool{{Kind: "Secret", Namespace: namespace, Name: name}: true}
	}
	for _, tt := range []struct {
		name       string
		completion completion
		change     func(*records)
		want       string
		unread     int
	}{
		{"what was deleted, without its neighbours", completion{}, nil, "ns/crm [ns/acme-web]", 0},
		{"in its namespace", completion{namespace: "ns"}, nil, "ns/crm [ns/acme-web]", 0},
		{"in another one", completion{namespace: "far"}, nil, "", 0},
		{"of its hub", completion{hub: "crm"}, nil, "ns/crm [ns/acme-web]", 0},
		{"of another one", completion{hub: "shop"}, nil, "", 0},
		{"by name", completion{nodes: []string{"acme-web", "bolt-web"}}, nil, "ns/crm [ns/acme-web]", 0},
		{"by another name", completion{nodes: []string{"bolt-web"}}, nil, "", 0},
		{"one that cannot be read", completion{}, tornToo, "ns/crm [ns/acme-web ns/torn-web]", 0},
		{"of its hub, by namespace and name", completion{hub: "ns/crm"}, nil, "ns/crm [ns/acme-web]", 0},
		{"of another one of that name", completion{hub: "far/crm"}, nil, "", 0},
		{"what does not count", completion{}, forgedToo, "ns/crm [ns/acme-web]", 0},
		{"what does not count, in the namespace that is named", completion{namespace: "forged"}, forgedToo, "ns/crm [forged/ghost-web]", 1},
		{"a hub", completion{}, hubToo, "ns/crm [ns/acme-web ns/bolt-web ns/held-web ns/torn-web other/bolt-queue] and its record", 0},
		{"a hub, where its nodes are elsewhere", completion{namespace: "other"}, hubToo, "", 0},
		{"a node of a hub", completion{nodes: []string{"bolt-web"}}, hubToo, "", 0},
		{"a hub that another finalizer holds", completion{hub: "crm", namespace: "far"}, func(all *records) { all.hubs[1].Deleting, all.hubs[1].Finalizer = true, false }, "", 0},
		{"a hub that cannot be read", completion{}, func(all *records) {
			all.broken = append(all.broken, &inventory.UnreadableError{Namespace: "ns", Name: "lynqhub-shop", Hub: "shop", Deleting: true})
		}, "ns/crm [ns/acme-web]", 1},
		{"given up", completion{giveUp: secret("ns", "acme")}, nil, "ns/crm [ns/acme-web]", 0},
		{"given up, of a node that stays", completion{giveUp: secret("ns", "bolt")}, nil,
			"error: --force: no inventory that is being deleted has an entry for Secret/ns/bolt (lynqctl inventory show NODE lists entries)", 0},
	} {
		all := someRecords()
		if tt.change != nil {
			tt.change(all)
		}
		if got := chosen(&tt.completion, all); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := len(tt.completion.unread); got != tt.unread {
			t.Errorf("%s: %d records are unread, want %d", tt.name, got, tt.unread)
		}
	}
}

// TestCompletionWarns: what is being deleted and does not count is told where it was
// not asked for by its namespace.
func TestCompletionWarns(t *testing.T) {
	all := someRecords()
	all.nodes[4].Deleting = true
	for _, tt := range []struct {
		completion completion
		want       int
	}{
		{completion{}, 1}, {completion{hub: "crm"}, 1}, {completion{hub: "far/crm"}, 0}, {completion{namespace: "forged"}, 0},
	} {
		if _, err := tt.completion.choose(all); err != nil || len(tt.completion.warnings()) != tt.want {
			t.Errorf("hub %q, namespace %q: warnings %q and error %v, want %d", tt.completion.hub, tt.completion.namespace, tt.completion.warnings(), err, tt.want)
		}
	}
	all.nodes[4].Deleting = false
	if c := (completion{}); len(chosen(&c, all)) == 0 || len(c.warnings()) > 0 {
		t.Errorf("it is not being deleted: %q", c.warnings())
	}
}

// TestRecorded: the Lease of a hub goes with its record, or, where that is gone
// already, with its last node.
func TestRecorded(t *testing.T) {
	all := someRecords()
	all.broken = append(all.broken, &inventory.UnreadableError{Namespace: "far", Name: "lynqhub-shop", Hub: "shop"})
	for p, want := range map[lynq.HubKey]bool{{Namespace: "ns", Name: "crm"}: true, {Namespace: "far", Name: "crm"}: true, {Namespace: "ns", Name: "shop"}: false, {Namespace: "far", Name: "shop"}: true} {
		if got := all.recorded(p); got != want {
			t.Errorf("%v: %t, want %t", p, got, want)
		}
	}
}

// TestGone: nothing is left of a hub that has neither a record nor nodes.
func TestGone(t *testing.T) {
	all := someRecords()
	for p, want := range map[lynq.HubKey]bool{{Namespace: "ns", Name: "crm"}: false, {Namespace: "ns", Name: "shop"}: false, {Namespace: "far", Name: "shop"}: true} {
		if got := all.gone(p); got != want {
			t.Errorf("%v: %t, want %t", p, got, want)
		}
	}
	if (*records)(nil).gone(lynq.HubKey{Namespace: "ns", Name: "crm"}) {
		t.Error("records that were not read say that a hub is gone")
	}
}

// TestNarrowTo: what has come since it was agreed on what goes, stays, but for nodes
// of a hub that goes whole.
func TestNarrowTo(t *testing.T) {
	of := func(what, name, hub string, all *records) []*leavingHub {
		hubs, err := (&removal{targets: []Target{{What: what, Name: name, Namespace: "ns", Hub: hub}}}).choose(all)
		if err != nil {
			t.Fatal(err)
		}
		return hubs
	}
	agreed := of("hub", "crm", "", someRecords())
	more := someRecords()
	more.nodes = append(more.nodes, &inventory.Inventory{Namespace: "ns", Node: "new-web", Hub: "crm", HubNamespace: "ns", Form: "web"})
	now := narrowTo(agreed, of("hub", "crm", "", more))
	if len(now) != 1 || len(now[0].nodes) != len(agreed[0].nodes)+1 || now[0].record == nil {
		t.Errorf("hub: %+v, agreed on %+v", now, agreed)
	}
	if !moreThan(agreed, now) || moreThan(now, agreed) || moreThan(agreed, agreed) {
		t.Error("it is not seen that a node has come")
	}
	delete(now[0].nodes, slices.Collect(maps.Keys(agreed[0].nodes))[0])
	if !moreThan(agreed, now) {
		t.Error("a node that came for one that went is not seen")
	}
	agreed = of("form", "web", "ns/crm", someRecords())
	now = narrowTo(agreed, of("form", "web", "ns/crm", more))
	if len(now) != 1 || len(now[0].nodes) != len(agreed[0].nodes) {
		t.Errorf("form: %+v, agreed on %+v", now, agreed)
	}
}
