package orphan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// stranded returns a tracked object of a node of hub crm. changes remove facts from it.
func stranded(ref, namespace, node, id string, changes ...func(*orphan.Orphan)) orphan.Orphan {
	o := left(ref, strings.Join([]string{"crm", namespace, node, id}, "/"))
	o.Reason, o.Deletion = orphan.ReasonStranded, lynq.DeleteDelete
	o.Live.Orphaned, o.Live.PartOf = false, partOf(namespace, node)
	for _, change := range changes {
		change(&o)
	}
	return o
}

// nameless removes the node's name, so that only the ApplySet remains. An object looks
// like this after its owner reference is removed.
func nameless(o *orphan.Orphan) { o.From.Namespace, o.From.Name = "", "" }

func retained(o *orphan.Orphan) { o.Deletion = lynq.DeleteRetain }

// known returns the inventory of another node of a hub.
func known(hub, hubNamespace, node, form string) *inventory.Inventory {
	return &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: hubNamespace, Name: hub}, Form: lynq.FormKey{Name: form}, UID: strings.TrimSuffix(node, "-"+form), Namespace: "shop", Name: node}, UID: "record", ResourceVersion: "7"}
}

// recordTexts returns one line for each inventory, with its objects below.
func recordTexts(rebuilt []plan.Restoration) []string {
	lines := []string{}
	for _, b := range rebuilt {
		lines = append(lines, fmt.Sprintf("%s/%s of %s/%s form %s row %s, %d added", b.Node.Namespace, b.Node.Name, b.Node.Hub.Namespace, b.Node.Hub.Name, b.Node.Form.Name, b.Node.UID, b.Added))
		for _, r := range b.Entries {
			lines = append(lines, fmt.Sprintf("  %s %s %s %s %s %d", r.Key(), r.APIVersion, r.Creation, r.Deletion, r.Patch, r.Order))
		}
	}
	return lines
}

func unbuiltTexts(unbuilt []orphan.Unbuilt) []string {
	lines := []string{}
	for _, u := range unbuilt {
		names := []string{}
		for _, o := range u.Objects {
			names = append(names, o.Full())
		}
		lines = append(lines, u.Hub.Name+" "+u.String()+" "+strings.Join(names, ",")+": "+u.Why)
	}
	return lines
}

func wantRebuilt(t *testing.T, in *orphan.RebuildInput, want ...string) {
	t.Helper()
	rebuilt, unbuilt := orphan.Rebuild(in)
	if diff := cmp.Diff(want, append(recordTexts(rebuilt), unbuiltTexts(unbuilt)...)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	for _, b := range rebuilt {
		cm, err := inventory.Encode(b.Inventory)
		if err != nil {
			t.Errorf("node %s: %v", b.Node.Name, err)
			continue
		}
		if back, err := inventory.Decode(cm); err != nil || len(back.Entries) != len(b.Entries) {
			t.Errorf("node %s: what is written cannot be read: %v", b.Node.Name, err)
		}
		for _, r := range b.Entries[len(b.Entries)-b.Added:] {
			if r.UID != "uid of "+r.Full() || r.Digest != "" || r.ResourceVersion != "" || r.Fields != "" || r.Ready {
				t.Errorf("node %s: %s counts as confirmed: %+v", b.Node.Name, r.Full(), r)
			}
		}
	}
}

func hubRecord(namespace, name string) *inventory.Hub {
	return &inventory.Hub{Namespace: namespace, Name: name}
}

// TestRebuildFromForms uses rows and forms.
func TestRebuildFromForms(t *testing.T) {
	settings := rendering("settings", "ConfigMap/shop/a")
	settings.Order = 2
	settings.Policy = &lynq.Policy{Lifecycle: lynq.Lifecycle{Creation: lynq.CreateOnce, Deletion: lynq.DeleteRetain, Conflict: lynq.ConflictForce, Patch: lynq.PatchMerge}}
	job := rendering("job", "Job.batch/shop/a")
	job.APIVersion = "batch/v1"
	job.Policy = &lynq.Policy{Lifecycle: lynq.Lifecycle{Creation: lynq.CreateWhenNeeded, Deletion: lynq.DeleteDelete, Conflict: lynq.ConflictStuck, Patch: lynq.PatchApply}}
	node := wants("shop", "acme-web", "web", settings, job)
	node.TemplateGeneration, node.Extra = 4, `{"plan":"gold"}`
	in := &orphan.RebuildInput{
		Nodes: []*plan.Node{node, wants("shop", "bolt-web", "web")},
		Stranded: []orphan.Orphan{
			stranded("ConfigMap/shop/a", "shop", "acme-web", "was", nameless), // its ApplySet shows its node
			stranded("Job.batch/shop/a", "shop", "acme-web", "job"),
			stranded("Secret/far/gone", "shop", "acme-web", "gone", retained), // its form no longer has it
		},
	}
	wantRebuilt(t, in,
		"shop/acme-web of hubs/crm form web row acme, 3 added",
		"  ConfigMap/shop/a@settings v1 Once Delete merge 2",
		"  Job/shop/a@job batch/v1 WhenNeeded Delete apply 0",
		"  Secret/far/gone@gone v1 WhenNeeded Retain apply 0")
	rebuilt, _ := orphan.Rebuild(in)
	if inv := rebuilt[0]; !inv.Finalizer || inv.Activate != "true" || inv.TemplateGeneration != 4 || inv.Extra != `{"plan":"gold"}` || inv.Entries[0].Conflict != lynq.ConflictForce {
		t.Errorf("the record is %+v", inv.Inventory)
	}
	in.NoFinalizer = true
	if rebuilt, _ = orphan.Rebuild(in); rebuilt[0].Finalizer {
		t.Error("the record gets a finalizer that nobody wants")
	}

	// Objects of another node say nothing about this one.
	in = &orphan.RebuildInput{
		Nodes:    []*plan.Node{node, wants("shop", "bolt-web", "web")},
		Stranded: []orphan.Orphan{stranded("ConfigMap/shop/a", "shop", "bolt-web", "was")},
	}
	wantRebuilt(t, in,
		"shop/bolt-web of hubs/crm form web row bolt, 1 added",
		"  ConfigMap/shop/a@was v1 WhenNeeded Delete apply 0")
	// A node with this name in another hub doesn't either.
	node.Hub.Name = "erp"
	in.Stranded = []orphan.Orphan{stranded("ConfigMap/shop/a", "shop", "acme-web", "settings")}
	wantRebuilt(t, in, `crm shop/acme-web ConfigMap/shop/a: they are of hub "crm", and rows and forms of hub "erp" make a node of that name`)
}

// TestRebuildFromLabels uses no rows and forms.
func TestRebuildFromLabels(t *testing.T) {
	hubs := []*inventory.Hub{hubRecord("hubs", "crm"), hubRecord("other", "erp")}
	const row = "  Secret/far/s@s v1 WhenNeeded Delete apply 0"
	for name, test := range map[string]struct {
		node        string
		form        string
		inventories []*inventory.Inventory
		hubs        []*inventory.Hub
		chosen      lynq.Names
		want        []string
	}{
		"the form of another node": {
			node: "acme-web", hubs: hubs, inventories: []*inventory.Inventory{known("crm", "hubs", "bolt-web", "web"), known("erp", "other", "acme-app", "app")},
			want: []string{"shop/acme-web of hubs/crm form web row acme, 1 added", row},
		},
		"no other node": {
			node: "acme-web", hubs: hubs,
			want: []string{"crm shop/acme-web Secret/far/s: nothing shows which form they belong to (pass --form; or pass -f: rows and forms may show it)"},
		},
		"no other node with that form": {
			node: "acme-web", hubs: hubs, inventories: []*inventory.Inventory{known("crm", "hubs", "bolt-app", "app"), known("erp", "other", "bolt-web", "web")},
			want: []string{"crm shop/acme-web Secret/far/s: nothing shows which form they belong to (pass --form; or pass -f: rows and forms may show it)"},
		},
		"forms that both fit": {
			node: "acme-big-web", hubs: hubs, inventories: []*inventory.Inventory{known("crm", "hubs", "bolt-web", "web"), known("crm", "hubs", "bolt-big-web", "big-web")},
			want: []string{"crm shop/acme-big-web Secret/far/s: the node's name fits several forms: big-web, web (pass --form; or pass -f: rows and forms may show it)"},
		},
		"forms that both fit, and one is said": {
			node: "acme-big-web", form: "big-web", hubs: hubs, inventories: []*inventory.Inventory{known("crm", "hubs", "bolt-web", "web"), known("crm", "hubs", "bolt-big-web", "big-web")},
			want: []string{"shop/acme-big-web of hubs/crm form big-web row acme, 1 added", row},
		},
		"a hash that tells which of the forms that could fit it is": {
			node: naming.NodeName("acme", "big-web"), hubs: hubs, inventories: []*inventory.Inventory{known("crm", "hubs", "bolt-web", "web"), known("crm", "hubs", "bolt-big-web", "big-web")},
			want: []string{"shop/" + naming.NodeName("acme", "big-web") + " of hubs/crm form big-web row acme, 1 added", row},
		},
		"a hash, and the form is said": {
			node: naming.NodeName("acme", "big-web"), form: "big-web", hubs: hubs,
			want: []string{"shop/" + naming.NodeName("acme", "big-web") + " of hubs/crm form big-web row acme, 1 added", row},
		},
		"a hash of something else": {
			node: "acme-big-web-00000000", hubs: hubs, inventories: []*inventory.Inventory{known("crm", "hubs", "bolt-big-web", "big-web")},
			want: []string{"crm shop/acme-big-web-00000000 Secret/far/s: nothing shows which form they belong to (pass --form; or pass -f: rows and forms may show it)"},
		},
		"a form that nothing has": {
			node: "acme-web", form: "web", hubs: hubs,
			want: []string{"shop/acme-web of hubs/crm form web row acme, 1 added", row},
		},
		"a form that does not fit": {
			node: "acme-web", form: "app", hubs: hubs,
			want: []string{"crm shop/acme-web Secret/far/s: the node's name does not end with -app (pass --form, or -f: rows and forms may show it)"},
		},
		"a form that does not fit, and another that does": {
			node: "acme-web", form: "app", hubs: hubs, inventories: []*inventory.Inventory{known("crm", "hubs", "bolt-web", "web")},
			want: []string{"shop/acme-web of hubs/crm form web row acme, 1 added", row},
		},
		"the form and no row": {
			node: "web", form: "web", hubs: hubs,
			want: []string{"crm shop/web Secret/far/s: the node's name does not end with -web (pass --form, or -f: rows and forms may show it)"},
		},
		"a name that was made": {
			node: naming.NodeName("Acme Inc.", "web"), form: "web", hubs: hubs,
			want: []string{"shop/acme-inc--web-b5be68bc of hubs/crm form web row acme-inc, 1 added", row},
		},
		"a name that was made and is too long for its form": {
			node: naming.NodeName(strings.Repeat("x", 70), "web"), form: "web", hubs: hubs,
			want: []string{"shop/" + naming.NodeName(strings.Repeat("x", 70), "web") + " of hubs/crm form web row " + strings.Repeat("x", 54) + ", 1 added", row},
		},
		"a name that was made, and no form": {
			node: naming.NodeName("Acme Inc.", "web"), hubs: hubs, inventories: []*inventory.Inventory{known("crm", "hubs", "bolt-web", "web")},
			want: []string{"crm shop/acme-inc--web-b5be68bc Secret/far/s: nothing shows which form they belong to (pass --form; or pass -f: rows and forms may show it)"},
		},
		"the record of the hub is gone too": {
			node: "acme-web", form: "web",
			want: []string{"shop/acme-web of /crm form web row acme, 1 added", row},
		},
		"the hub's namespace is that of another node": {
			node: "acme-web", inventories: []*inventory.Inventory{known("crm", "hubs", "bolt-web", "web")},
			want: []string{"shop/acme-web of hubs/crm form web row acme, 1 added", row},
		},
		"two hubs of one name": {
			node: "acme-web", form: "web", hubs: []*inventory.Hub{hubRecord("hubs", "crm"), hubRecord("other", "crm")},
			want: []string{`crm shop/acme-web Secret/far/s: there is a hub "crm" in each of the namespaces hubs, other (pass --hub NAMESPACE/crm; or pass -f: rows and forms may show it)`},
		},
		"two hubs of one name, one of them where the node is": {
			node: "acme-web", form: "web", hubs: []*inventory.Hub{hubRecord("hubs", "crm"), hubRecord("shop", "crm")},
			want: []string{"shop/acme-web of shop/crm form web row acme, 1 added", row},
		},
		"two hubs of one name, one of them with forms that fit": {
			node: "acme-web", hubs: []*inventory.Hub{hubRecord("hubs", "crm"), hubRecord("shop", "crm")},
			inventories: []*inventory.Inventory{known("crm", "shop", "bolt-web", "web"), known("crm", "hubs", "bolt-big-acme-web", "acme-web")},
			want:        []string{"shop/acme-web of shop/crm form web row acme, 1 added", row},
		},
		"two hubs of one name, and one was named": {
			node: "acme-web", form: "web", hubs: []*inventory.Hub{hubRecord("hubs", "crm"), hubRecord("shop", "crm")}, chosen: lynq.Names{"hubs/crm"},
			want: []string{"shop/acme-web of hubs/crm form web row acme, 1 added", row},
		},
		"the record of the hub that was named is gone": {
			node: "acme-web", form: "web", hubs: []*inventory.Hub{hubRecord("shop", "crm")}, chosen: lynq.Names{"hubs/crm"},
			want: []string{"shop/acme-web of hubs/crm form web row acme, 1 added", row},
		},
	} {
		t.Run(name, func(t *testing.T) {
			wantRebuilt(t, &orphan.RebuildInput{
				Stranded:    []orphan.Orphan{stranded("Secret/far/s", "shop", test.node, "s")},
				Inventories: test.inventories, Hubs: test.hubs, Form: lynq.FormKey{Name: test.form}, Chosen: test.chosen,
			}, test.want...)
		})
	}
}

// TestRebuildLabelledHub takes the namespace of a hub from the labels of objects, if they
// agree. The hub's records may be lost too.
func TestRebuildLabelledHub(t *testing.T) {
	for _, tt := range []struct{ first, second, want string }{
		{"hubs", "hubs", "hubs"}, {"hubs", "", "shop"}, {"", "hubs", "shop"}, {"hubs", "other", "shop"}, {"gone", "gone", "gone"},
	} {
		t.Run(tt.first, func(t *testing.T) {
			in := &orphan.RebuildInput{
				Form: lynq.FormKey{Name: "web"}, Hubs: []*inventory.Hub{hubRecord("shop", "crm"), hubRecord("hubs", "crm")},
				Stranded: []orphan.Orphan{stranded("Secret/far/s", "shop", "acme-web", "s"), stranded("Secret/far/t", "shop", "acme-web", "t")},
			}
			for i, label := range []string{tt.first, tt.second} {
				in.Stranded[i].Live.Node, in.Stranded[i].Live.HubNamespace = "acme-web", label
			}
			if rebuilt, unbuilt := orphan.Rebuild(in); len(rebuilt) != 1 || rebuilt[0].Node.Hub.Namespace != tt.want {
				t.Errorf("%+v: %+v %+v", tt, rebuilt, unbuilt)
			}
			in.Chosen = lynq.Names{"shop/crm"}
			rebuilt, unbuilt := orphan.Rebuild(in)
			if refused := tt.first == tt.second; len(unbuilt) == 1 != refused || len(rebuilt) == 0 != refused {
				t.Errorf("%+v, and the user chose another hub: %+v %+v", tt, rebuilt, unbuilt)
			}
		})
	}
}

// TestRebuildFormNamespace takes a form's namespace from the user, or from other nodes of
// the hub.
func TestRebuildFormNamespace(t *testing.T) {
	far := known("crm", "shop", "bolt-web", "web")
	far.Node.Form.Namespace = "far"
	other := known("crm", "hubs", "coil-web", "web")
	other.Node.Form.Namespace = "other"
	in := &orphan.RebuildInput{
		Hubs:        []*inventory.Hub{hubRecord("shop", "crm"), hubRecord("hubs", "crm")},
		Inventories: []*inventory.Inventory{far, other}, Stranded: []orphan.Orphan{stranded("Secret/far/s", "shop", "acme-web", "s")},
	}
	for _, tt := range []struct{ form, namespace, want string }{{"", "", "far"}, {"web", "", "far"}, {"web", "said", "said"}} {
		t.Run(tt.form, func(t *testing.T) {
			in.Form = lynq.FormKey{Namespace: tt.namespace, Name: tt.form}
			if rebuilt, unbuilt := orphan.Rebuild(in); len(rebuilt) != 1 || rebuilt[0].Node.Form.Namespace != tt.want {
				t.Errorf("%+v: %+v %+v", tt, rebuilt, unbuilt)
			}
		})
	}
}

// TestRebuildOthers returns other hubs that might own a node.
func TestRebuildOthers(t *testing.T) {
	in := &orphan.RebuildInput{
		Form: lynq.FormKey{Name: "web"}, Stranded: []orphan.Orphan{stranded("Secret/far/s", "shop", "acme-web", "s")},
		Hubs: []*inventory.Hub{hubRecord("shop", "crm"), hubRecord("hubs", "crm"), hubRecord("other", "crm"), hubRecord("hubs", "erp")},
	}
	rebuilt, _ := orphan.Rebuild(in)
	want := []lynq.HubKey{{Namespace: "hubs", Name: "crm"}, {Namespace: "other", Name: "crm"}}
	if len(rebuilt) != 1 || !slices.Equal(rebuilt[0].Others, want) {
		t.Errorf("%+v, want others %v", rebuilt, want)
	}
	in.Chosen = lynq.Names{"shop/crm"}
	if rebuilt, _ = orphan.Rebuild(in); len(rebuilt) != 1 || len(rebuilt[0].Others) > 0 {
		t.Errorf("%+v, though one was named", rebuilt)
	}
}

// TestRebuildNameless has objects that don't name their node.
func TestRebuildNameless(t *testing.T) {
	settings := stranded("ConfigMap/shop/settings", "shop", "acme-web", "settings", nameless)
	in := &orphan.RebuildInput{Form: lynq.FormKey{Name: "web"}, Stranded: []orphan.Orphan{
		settings, stranded("ConfigMap/shop/more", "shop", "acme-web", "more", nameless), stranded("ConfigMap/shop/other", "shop", "bolt-web", "other", nameless),
	}}
	const why = "their labels name no node (pass -f: rows and forms may show it)"
	rebuilt, unbuilt := orphan.Rebuild(in)
	if len(rebuilt) != 0 {
		t.Errorf("rebuilt is %q", recordTexts(rebuilt))
	}
	want := []string{"crm shop/ ConfigMap/shop/other: " + why, "crm shop/ ConfigMap/shop/settings,ConfigMap/shop/more: " + why}
	if got := unbuiltTexts(unbuilt); !slices.Equal(got, want) {
		t.Errorf("unbuilt is %q, want %q", got, want)
	}

	// The user can name the node.
	named := *in
	named.Named = []lynq.NodeKey{{Namespace: "shop", Name: "bolt-web"}}
	if rebuilt, _ := orphan.Rebuild(&named); len(rebuilt) != 1 || rebuilt[0].Node.Name != "bolt-web" || rebuilt[0].Added != 1 {
		t.Errorf("rebuilt is %q", recordTexts(rebuilt))
	}

	// One object that names the node is enough for all.
	in.Stranded = []orphan.Orphan{settings, stranded("Secret/far/s", "shop", "acme-web", "s", retained)}
	wantRebuilt(t, in,
		"shop/acme-web of /crm form web row acme, 2 added",
		"  ConfigMap/shop/settings@settings v1 WhenNeeded Delete apply 0",
		"  Secret/far/s@s v1 WhenNeeded Retain apply 0")
}

// TestRebuildCompletes adds entries to an existing inventory, and keeps the others.
func TestRebuildCompletes(t *testing.T) {
	there := known("crm", "hubs", "acme-web", "web")
	there.Finalizer = false
	there.Entries = []inventory.Entry{{
		Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}, ID: "a", APIVersion: "v1", UID: "u", Digest: "d",
		Lifecycle: lynq.Lifecycle{Creation: lynq.CreateWhenNeeded, Deletion: lynq.DeleteDelete, Conflict: lynq.ConflictStuck, Patch: lynq.PatchApply},
	}}
	in := &orphan.RebuildInput{Inventories: []*inventory.Inventory{there}, Stranded: []orphan.Orphan{stranded("Secret/shop/s", "shop", "acme-web", "s")}}
	wantRebuilt(t, in,
		"shop/acme-web of hubs/crm form web row acme, 1 added",
		"  ConfigMap/shop/a@a v1 WhenNeeded Delete apply 0",
		"  Secret/shop/s@s v1 WhenNeeded Delete apply 0")
	rebuilt, _ := orphan.Rebuild(in)
	if inv := rebuilt[0]; inv.UID != "record" || inv.ResourceVersion != "7" || inv.Finalizer || inv.Entries[0].Digest != "d" {
		t.Errorf("the record is %+v", inv.Inventory)
	}
	if len(there.Entries) != 1 {
		t.Error("the record that was given has changed")
	}
	there.Node.Hub.Name = "erp"
	wantRebuilt(t, in, `crm shop/acme-web Secret/shop/s: they are of hub "crm", and the node's inventory is of hub "erp"`)
}

// TestRebuildUnsaid checks that missing facts lead to safe entries.
func TestRebuildUnsaid(t *testing.T) {
	in := &orphan.RebuildInput{Form: lynq.FormKey{Name: "web"}, Stranded: []orphan.Orphan{
		stranded("ConfigMap/shop/a", "shop", "acme-web", "", func(o *orphan.Orphan) { o.Deletion = "" }),
		stranded("ConfigMap/shop/b", "shop", "acme-web", "b", func(o *orphan.Orphan) { o.Deletion = "Nonsense" }),
		stranded("ConfigMap/shop/c", "shop", "acme-web", "c", func(o *orphan.Orphan) { o.Creation = lynq.CreateOnce }),
	}}
	wantRebuilt(t, in,
		"shop/acme-web of /crm form web row acme, 3 added",
		"  ConfigMap/shop/a@unknown v1 WhenNeeded Retain apply 0",
		"  ConfigMap/shop/b@b v1 WhenNeeded Retain apply 0",
		"  ConfigMap/shop/c@c v1 Once Delete apply 0")
}

func TestRebuildRefuses(t *testing.T) {
	two := []orphan.Orphan{
		stranded("ConfigMap/shop/a", "shop", "acme-web", "a"),
		stranded("ConfigMap/shop/b", "shop", "acme-web", "b", func(o *orphan.Orphan) { o.From.Hub.Name = "erp" }),
	}
	wantRebuilt(t, &orphan.RebuildInput{Form: lynq.FormKey{Name: "web"}, Stranded: two},
		`crm shop/acme-web ConfigMap/shop/a,ConfigMap/shop/b: they are of several hubs, "crm" and "erp"`)

	// Rebuild ignores orphans, and entries whose objects are gone.
	gone := stranded("ConfigMap/shop/a", "shop", "acme-web", "a", func(o *orphan.Orphan) { o.Live, o.Reason = nil, orphan.ReasonGone })
	rebuilt, unbuilt := orphan.Rebuild(&orphan.RebuildInput{Form: lynq.FormKey{Name: "web"}, Stranded: []orphan.Orphan{gone, left("ConfigMap/shop/o", "crm/shop/acme-web/o")}})
	if len(rebuilt)+len(unbuilt) != 0 {
		t.Errorf("rebuilt is %q, unbuilt %q", recordTexts(rebuilt), unbuiltTexts(unbuilt))
	}
}

// TestRebuildOutside checks that labels alone never cause an inventory in a namespace.
func TestRebuildOutside(t *testing.T) {
	recorded := hubRecord("hubs", "crm")
	recorded.UID, recorded.Namespaces = "hub record", []string{"shop"}
	elsewhere := hubRecord("hubs", "crm")
	elsewhere.UID, elsewhere.Namespaces = "hub record", []string{"market"}
	lost := []orphan.Orphan{stranded("ConfigMap/shop/a", "shop", "acme-web", "a")}
	built := []string{"shop/acme-web of hubs/crm form web row acme, 1 added", "  ConfigMap/shop/a@a v1 WhenNeeded Delete apply 0"}
	refused := []string{"crm shop/acme-web ConfigMap/shop/a: only labels say that hub crm has nodes in namespace shop (if it has, run this again with -n shop)"}
	existing := known("crm", "hubs", "acme-web", "web")
	for name, test := range map[string]struct {
		in   orphan.RebuildInput
		want []string
	}{
		"a namespace that was named":                {orphan.RebuildInput{Hubs: []*inventory.Hub{elsewhere}}, built},
		"a namespace of the inputs":                 {orphan.RebuildInput{Hubs: []*inventory.Hub{elsewhere}, Within: []string{"shop"}}, built},
		"a namespace of the hub record":             {orphan.RebuildInput{Hubs: []*inventory.Hub{recorded}, Within: []string{}}, built},
		"another namespace than the hub record has": {orphan.RebuildInput{Hubs: []*inventory.Hub{elsewhere}, Within: []string{}}, refused},
		"another namespace than the inputs have":    {orphan.RebuildInput{Hubs: []*inventory.Hub{elsewhere}, Within: []string{"market"}}, refused},
		"an inventory that is there, and is completed": {
			orphan.RebuildInput{Hubs: []*inventory.Hub{recorded}, Inventories: []*inventory.Inventory{existing}, Within: []string{}},
			[]string{"shop/acme-web of hubs/crm form web row acme, 1 added", "  ConfigMap/shop/a@a v1 WhenNeeded Delete apply 0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.in.Stranded, test.in.Form = lost, lynq.FormKey{Name: "web"}
			wantRebuilt(t, &test.in, test.want...)
		})
	}
}

// TestRebuildInOrder checks that the same input always gives the same result.
func TestRebuildInOrder(t *testing.T) {
	var all []orphan.Orphan
	var want []string
	for i := range 20 {
		node := fmt.Sprintf("n%02d-web", i)
		all = append(all, stranded("ConfigMap/shop/b-"+node, "shop", node, "b"), stranded("ConfigMap/shop/a-"+node, "shop", node, "a"))
		want = append(want, "shop/"+node+" of /crm form web row "+node[:3]+", 2 added",
			"  ConfigMap/shop/b-"+node+"@b v1 WhenNeeded Delete apply 0", "  ConfigMap/shop/a-"+node+"@a v1 WhenNeeded Delete apply 0")
	}
	wantRebuilt(t, &orphan.RebuildInput{Form: lynq.FormKey{Name: "web"}, Stranded: all}, want...)
}
