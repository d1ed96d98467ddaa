package delete

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/planfile"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// someRecords returns hubs crm and shop in namespace ns, each with form web, and another
// crm in namespace far. One of crm's nodes was deleted, and another can't be read.
func someRecords() *Records {
	inv := func(namespace, node, hub, hubNamespace, form string, objects ...string) *inventory.Inventory {
		i := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: hubNamespace, Name: hub}, Form: lynq.FormKey{Name: form}, Namespace: namespace, Name: node}, Finalizer: true}
		for _, o := range objects {
			i.Entries = append(i.Entries, inventory.Entry{Ref: lynq.Ref{Kind: "Secret", Namespace: namespace, Name: o}})
		}
		return i
	}
	deleted := inv("ns", "acme-web", "crm", "ns", "web", "acme")
	deleted.Deleting = true
	foreign := inv("ns", "held-web", "crm", "ns", "web", "held")
	foreign.Deleting, foreign.Finalizer = true, false
	return &Records{
		Nodes: []*inventory.Inventory{
			deleted, inv("ns", "bolt-web", "crm", "ns", "web", "bolt"), foreign, inv("other", "bolt-queue", "crm", "ns", "queue"),
			inv("forged", "ghost-web", "crm", "ns", "web", "ghost"), // the hub has no nodes in this namespace
			inv("ns", "shop-web", "shop", "", "web"), inv("far", "acme-web", "crm", "far", "web"),
		},
		Hubs: []*inventory.Hub{{Namespace: "ns", Name: "crm", UID: "crm", Namespaces: []string{"other"}, Finalizer: true}, {Namespace: "far", Name: "crm", Finalizer: true}},
		Broken: []*inventory.UnreadableError{{
			Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "ns", Name: "crm"}, Form: lynq.FormKey{Name: "web"}, Namespace: "ns", Name: "torn-web"}, Name: "lynqnode-torn-web",
			Where: "data.resources", Err: errors.New("it is torn"),
		}},
	}
}

// chosen describes the choice of a selection in words.
func chosen(s Selection, all *Records) string {
	hubs, err := s.Choose(all)
	if err != nil {
		return "error: " + err.Error()
	}
	var words []string
	for _, h := range hubs {
		var nodes []string
		for k := range h.Nodes {
			nodes = append(nodes, k.String())
		}
		slices.Sort(nodes)
		word := fmt.Sprintf("%s/%s %v", h.Namespace, h.Name, nodes)
		if h.Record != nil {
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
		{removal{targets: []Target{{What: "node", Name: "bolt-queue", Namespace: "ns"}}}, `error: there is no node "bolt-queue" in namespace ns (lynqctl found it in other: pass -n)`},
		{removal{targets: []Target{{What: "node", Name: "x", Namespace: "empty"}}}, `error: there is no node "x" in namespace empty (lynqctl status -A lists all)`},
		{removal{targets: []Target{{What: "node", Name: "torn-web", Namespace: "ns"}}}, "error: ConfigMap ns/lynqnode-torn-web: data.resources: it is torn (restore it as it was, or remove its finalizers and delete it with --cascade=orphan if lynqctl never made it; until then, lynqctl changes nothing of node ns/torn-web)"},
		{removal{targets: []Target{{What: "form", Name: "queue"}}}, "ns/crm [other/bolt-queue]"},
		{removal{targets: []Target{{What: "form", Name: "web"}}}, `error: several hubs have a form "web": far/crm, ns/crm, ns/shop (pass --hub NAMESPACE/NAME with one of these)`},
		{removal{targets: []Target{{What: "form", Name: "web", Hub: "crm"}}}, `error: several hubs have a form "web": far/crm, ns/crm (pass --hub NAMESPACE/NAME with one of these)`},
		{removal{targets: []Target{{What: "form", Name: "web", Hub: "far/crm"}}}, "far/crm [far/acme-web]"},
		{removal{targets: []Target{{What: "form", Name: "far/web"}}}, "far/crm [far/acme-web]"},
		{removal{targets: []Target{{What: "form", Name: "web", Hub: "ns/crn"}}}, `error: no node has a form "web" of hub "ns/crn" (lynqctl status -A lists all)`},
		{removal{targets: []Target{{What: "form", Name: "queue", Namespace: "other"}}}, `error: no node has a form "queue" of a hub in namespace other (lynqctl found it in hub ns/crm: pass the namespace of the hub with -n, and not that of the nodes)`},
		{removal{targets: []Target{{What: "form", Name: "web", Namespace: "other"}}}, `error: no node has a form "web" of a hub in namespace other (lynqctl found it in hub far/crm, ns/crm, ns/shop: pass the namespace of the hub with -n, and not that of the nodes)`},
		{removal{targets: []Target{{What: "form", Name: "web", Namespace: "other", Hub: "crm"}}}, `error: no node has a form "web" of hub "crm" in namespace other (lynqctl found it in hub far/crm, ns/crm: pass the namespace of the hub with -n, and not that of the nodes)`},
		{removal{targets: []Target{{What: "form", Name: "wbe", Namespace: "ns"}}}, `error: no node has a form "wbe" of a hub in namespace ns (did you mean "web"?)`},
		{removal{targets: []Target{{What: "form", Name: "web", Hub: "crm", Namespace: "ns"}}}, "ns/crm [ns/acme-web ns/bolt-web ns/held-web ns/torn-web]"},
		{removal{targets: []Target{{What: "form", Name: "web", Hub: "shop"}}}, "ns/shop [ns/shop-web]"},
		{removal{targets: []Target{{What: "form", Name: "job"}}}, `error: hub ns/crm has several forms "job": far/job, ns/job (pass one of these instead of job)`},
		{removal{targets: []Target{{What: "form", Name: "ns/job"}}}, "ns/crm [ns/acme-job]"},
		{removal{targets: []Target{{What: "form", Name: "far/job", Hub: "crm"}}}, "ns/crm [ns/acme-far-job]"},
		{removal{targets: []Target{{What: "form", Name: "wbe", Hub: "shop"}}}, `error: no node has a form "wbe" of hub "shop" (did you mean "web"?)`},
		{removal{targets: []Target{{What: "hub", Name: "crm", Namespace: "ns"}}}, "ns/crm [ns/acme-web ns/bolt-web ns/held-web ns/torn-web other/bolt-queue] and its record"},
		{removal{targets: []Target{{What: "hub", Name: "crm", Namespace: "far"}}}, "far/crm [far/acme-web] and its record"},
		{removal{targets: []Target{{What: "hub", Name: "shop", Namespace: "ns"}}}, "ns/shop [ns/shop-web]"},
		{removal{targets: []Target{{What: "hub", Name: "crm", Namespace: "other"}}}, `error: there is no hub "crm" in namespace other (lynqctl found it in ns, far: pass -n)`},
		{removal{targets: []Target{{What: "hub", Name: "crn", Namespace: "ns"}}}, `error: there is no hub "crn" in namespace ns (did you mean "crm"?)`},
	} {
		all := someRecords()
		if strings.HasSuffix(tt.removal.targets[0].Name, "job") { // two forms have this name
			all.Nodes = append(all.Nodes,
				&inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "ns", Name: "crm"}, Form: lynq.FormKey{Name: "job"}, Namespace: "ns", Name: "acme-job"}},
				&inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "ns", Name: "crm"}, Form: lynq.FormKey{Namespace: "far", Name: "job"}, Namespace: "ns", Name: "acme-far-job"}})
		}
		if got := chosen(&tt.removal, all); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.removal, got, tt.want)
		}
	}
	all := someRecords()
	all.Broken = append(all.Broken, &inventory.UnreadableError{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "shop"}, Namespace: "ns"}, Name: "lynqhub-shop", Where: "data.rows", Err: errors.New("it is torn")})
	want := "error: ConfigMap ns/lynqhub-shop: data.rows: it is torn (restore it as it was, or remove its finalizers and delete it: the next apply creates it again; until then, lynqctl changes nothing of this hub)"
	if got := chosen(&removal{targets: []Target{{What: "hub", Name: "shop", Namespace: "ns"}}}, all); got != want {
		t.Errorf("a hub whose record is torn: %s, want %s", got, want)
	}
}

// TestRemovalOfSeveral deletes several targets in one run. With --ignore-not-found, a
// missing target is an error only if an unreadable record may belong to it.
func TestRemovalOfSeveral(t *testing.T) {
	node := func(name string) Target { return Target{What: "node", Name: name, Namespace: "ns"} }
	torn := someRecords()
	torn.Broken[0].Node.Hub.Name = ""
	for _, tt := range []struct {
		removal removal
		all     *Records
		want    string
	}{
		{removal{targets: []Target{node("bolt-web"), node("acme-web")}}, someRecords(), "ns/crm [ns/acme-web ns/bolt-web]"},
		{removal{targets: []Target{node("bolt-web"), {What: "hub", Name: "crm", Namespace: "far"}}}, someRecords(), "ns/crm [ns/bolt-web]; far/crm [far/acme-web] and its record"},
		{removal{targets: []Target{{What: "form", Name: "queue"}, node("bolt-web")}}, someRecords(), "ns/crm [ns/bolt-web other/bolt-queue]"},
		{removal{targets: []Target{node("bolt-web"), node("x"), node("y")}}, someRecords(), `error: there is no node "x" in namespace ns (there are acme-web, bolt-web, held-web, shop-web, torn-web)
there is no node "y" in namespace ns (there are acme-web, bolt-web, held-web, shop-web, torn-web)`},
		{removal{targets: []Target{node("bolt-web"), node("x")}, ignoreMissing: true}, someRecords(), "ns/crm [ns/bolt-web]"},
		{removal{targets: []Target{node("x"), {What: "hub", Name: "x", Namespace: "ns"}, {What: "form", Name: "x"}}, ignoreMissing: true}, someRecords(), ""},
		{removal{targets: []Target{node("torn-web")}, ignoreMissing: true}, someRecords(), "error: ConfigMap ns/lynqnode-torn-web: data.resources: it is torn (restore it as it was, or remove its finalizers and delete it with --cascade=orphan if lynqctl never made it; until then, lynqctl changes nothing of node ns/torn-web)"},
		{removal{targets: []Target{{What: "form", Name: "web"}}, ignoreMissing: true}, someRecords(), `error: several hubs have a form "web": far/crm, ns/crm, ns/shop (pass --hub NAMESPACE/NAME with one of these)`},
		{removal{targets: []Target{node("torn-web")}, ignoreMissing: true}, torn, `error: lynqctl can't tell whether node "torn-web" exists, because it can't read an inventory: ConfigMap ns/lynqnode-torn-web: data.resources: it is torn (restore it as it was, or remove its finalizers and delete it with --cascade=orphan if lynqctl never made it; until then, lynqctl changes nothing of node ns/torn-web)`},
		{removal{targets: []Target{{What: "hub", Name: "x", Namespace: "ns"}}, ignoreMissing: true}, torn, `error: lynqctl can't tell whether hub "x" exists, because it can't read an inventory: ConfigMap ns/lynqnode-torn-web: data.resources: it is torn (restore it as it was, or remove its finalizers and delete it with --cascade=orphan if lynqctl never made it; until then, lynqctl changes nothing of node ns/torn-web)`},
	} {
		if got := chosen(&tt.removal, tt.all); got != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.removal, got, tt.want)
		}
	}
}

// TestRemovalAsks wants the user to type a hub's name. For nodes and forms, a yes is
// enough.
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
		t.Run(tt.question, func(t *testing.T) {
			r := removal{targets: tt.targets}
			if got := r.Question(3); got != tt.question || !slices.Equal(r.Typed(), tt.typed) {
				t.Errorf("%+v: %q, typed %q", tt.targets, got, r.Typed())
			}
		})
	}
}

// TestRecorded wants the Lease of a hub to leave with the hub record. Without a hub record,
// it leaves with the last node.
func TestRecorded(t *testing.T) {
	all := someRecords()
	all.Broken = append(all.Broken, &inventory.UnreadableError{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "shop"}, Namespace: "far"}, Name: "lynqhub-shop"})
	for p, want := range map[lynq.HubKey]bool{{Namespace: "ns", Name: "crm"}: true, {Namespace: "far", Name: "crm"}: true, {Namespace: "ns", Name: "shop"}: false, {Namespace: "far", Name: "shop"}: true} {
		if got := all.recorded(p); got != want {
			t.Errorf("%v: %t, want %t", p, got, want)
		}
	}
}

// TestGone wants a hub to count as gone if it has neither a hub record nor nodes.
func TestGone(t *testing.T) {
	all := someRecords()
	for p, want := range map[lynq.HubKey]bool{{Namespace: "ns", Name: "crm"}: false, {Namespace: "ns", Name: "shop"}: false, {Namespace: "far", Name: "shop"}: true} {
		if got := all.gone(p); got != want {
			t.Errorf("%v: %t, want %t", p, got, want)
		}
	}
	if (*Records)(nil).gone(lynq.HubKey{Namespace: "ns", Name: "crm"}) {
		t.Error("records that were not read say that a hub is gone")
	}
}

// TestNarrowTo wants nodes to stay that came after the confirmation, except if the run
// deletes the whole hub.
func TestNarrowTo(t *testing.T) {
	of := func(what, name, hub string, all *Records) []*LeavingHub {
		hubs, err := (&removal{targets: []Target{{What: what, Name: name, Namespace: "ns", Hub: hub}}}).Choose(all)
		if err != nil {
			t.Fatal(err)
		}
		return hubs
	}
	agreed := of("hub", "crm", "", someRecords())
	more := someRecords()
	more.Nodes = append(more.Nodes, &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "ns", Name: "crm"}, Form: lynq.FormKey{Name: "web"}, Namespace: "ns", Name: "new-web"}})
	now := narrowTo(agreed, of("hub", "crm", "", more))
	if len(now) != 1 || len(now[0].Nodes) != len(agreed[0].Nodes)+1 || now[0].Record == nil {
		t.Errorf("hub: %+v, agreed on %+v", now, agreed)
	}
	if !moreThan(agreed, now) || moreThan(now, agreed) || moreThan(agreed, agreed) {
		t.Error("it is not seen that a node has come")
	}
	delete(now[0].Nodes, slices.Collect(maps.Keys(agreed[0].Nodes))[0])
	if !moreThan(agreed, now) {
		t.Error("a node that came for one that went is not seen")
	}
	agreed = of("form", "web", "ns/crm", someRecords())
	now = narrowTo(agreed, of("form", "web", "ns/crm", more))
	if len(now) != 1 || len(now[0].Nodes) != len(agreed[0].Nodes) {
		t.Errorf("form: %+v, agreed on %+v", now, agreed)
	}
}

// TestPlanOfOthers checks that a plan file for nodes that exist and that nobody named is
// refused. A node that is gone is the business of the comparison with the plan.
func TestPlanOfOthers(t *testing.T) {
	file := func(hub string, nodes ...string) *planfile.File {
		p := planfile.Plan{HubNamespace: "ns", Hub: hub}
		for _, n := range nodes {
			p.Nodes = append(p.Nodes, planfile.Node{Namespace: "ns", Name: n, Leaves: true})
		}
		return &planfile.File{Plans: []planfile.Plan{p}}
	}
	named := []Target{{What: "node", Name: "bolt-web", Namespace: "ns"}}
	for _, tt := range []struct {
		file *planfile.File
		want string
	}{
		{nil, ""},
		{file("crm", "bolt-web"), ""},
		{file("crm", "gone-web"), ""},
		{file("crm", "bolt-web", "acme-web"), "ns/crm: the plan deletes node ns/acme-web, and this command doesn't"},
		{file("crm", "torn-web", "acme-web"), "ns/crm: the plan deletes nodes ns/acme-web, ns/torn-web, and this command doesn't"},
		{file("shop", "shop-web"), "ns/shop: the plan deletes node ns/shop-web, and this command doesn't"},
	} {
		all := someRecords()
		for _, inv := range all.Nodes {
			if inv.Node.Hub.Name == "shop" {
				inv.Node.Hub.Namespace = "ns"
			}
		}
		hubs, err := (&removal{targets: named}).Choose(all)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range notChosen(tt.file, all, hubs) {
			got += r.Hub.String() + ": " + r.What
		}
		if got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
