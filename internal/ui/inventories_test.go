package ui_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestInventoryDetails wants objects in apply order, with a mark on unconfirmed ones.
func TestInventoryDetails(t *testing.T) {
	record := func(name string, order int, uid, digest string, ready bool) inventory.Entry {
		p := lynq.DefaultPolicy()
		return inventory.Entry{
			Ref: lynq.Ref{Kind: "Secret", Namespace: "ns", Name: name}, ID: name, Order: order, UID: uid, Digest: digest, Ready: ready,
			Lifecycle: p.Lifecycle,
		}
	}
	retained := record("d", 2, "u", "0123456789abcdef", false)
	retained.Deletion, retained.Patch, retained.Adopted = lynq.DeleteRetain, lynq.PatchReplace, true
	d := ui.InventoryDetails(&inventory.Inventory{Node: lynq.NodeID{Name: "n"}, Status: inventory.Status{Objects: []inventory.ObjectStatus{{RefFields: lynq.RefFields{Kind: "Secret", Namespace: "ns", Name: "d"}, Reason: inventory.ObjectTimedOut}}}, Entries: []inventory.Entry{
		retained, record("c", 1, "u", "", true), record("b", 0, "", "", false), record("a", 0, "u", "0123", true),
	}}, time.Now())
	want := [][]string{
		{"Secret", "ns", "a", "a", "", "Ready", "no", "0123", "u"},
		{"Secret", "ns", "b", "b", "", "Progressing", "no", "", ""},
		{"Secret", "ns", "c", "c", "", "Progressing", "no", "", "u"},
		{"Secret", "ns", "d", "d", "Retain,replace", "Degraded: TimedOut", "yes", "01234567", "u"},
	}
	var got [][]string
	for _, item := range d.Parts.Items {
		got = append(got, item.Cells)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestInventoryShowHasAllOfEntries wants -o json, -o yaml and docs/inventory.md to have
// every field that the ConfigMap has of an object. New fields of an entry fail here.
func TestInventoryShowHasAllOfEntries(t *testing.T) {
	var r inventory.Entry
	fillIn(reflect.ValueOf(&r).Elem())
	r.Ref, r.APIVersion = lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "a"}, "apps/v1"
	r.RunOn = ""
	cm, err := inventory.Encode(&inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "h"}, Form: lynq.FormKey{Name: "f"}, UID: "u", Namespace: "ns", Name: "u-f"}, Entries: []inventory.Entry{r}})
	if err != nil {
		t.Fatal(err)
	}
	inv, err := inventory.Decode(cm)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(ui.InventoryDetails(inv, time.Now()).Data)
	if err != nil {
		t.Fatal(err)
	}
	var shown struct{ Resources []map[string]any }
	var recorded []map[string]any
	if err := json.Unmarshal(text, &shown); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(cm.Data["resources"]), &recorded); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/inventory.md")
	if err != nil {
		t.Fatal(err)
	}
	for field, value := range recorded[0] {
		if row := regexp.MustCompile("(?m)^\\|[^|]*`" + field + "`[^|]*\\|"); !row.Match(page) {
			t.Errorf("docs/inventory.md has no row for %s", field)
		}
		if diff := cmp.Diff(value, shown.Resources[0][field]); diff != "" {
			t.Errorf("%s (-recorded +shown)\n%s", field, diff)
		}
	}
	if len(recorded[0]) < 20 {
		t.Errorf("the entry has %d fields, too few to tell anything", len(recorded[0]))
	}
}

// fillIn sets every field of a struct, and of the structs in it, to some value.
func fillIn(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Type() == reflect.TypeFor[time.Time]():
			f.Set(reflect.ValueOf(time.Unix(1_700_000_000, 0).UTC()))
		case f.Kind() == reflect.Struct:
			fillIn(f)
		case f.Kind() == reflect.String:
			f.SetString("x")
			if w, ok := f.Interface().(interface{ Recorded() []string }); ok {
				f.SetString(w.Recorded()[0])
			}
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		case f.CanInt():
			f.SetInt(7)
		}
	}
}

// TestLostInventories wants the tables of lost inventories to tell hubs with the same name
// apart. If some inventories can't be recovered, no text says that nothing is to do.
func TestLostInventories(t *testing.T) {
	lost := func(namespace, hub string) *inventory.Inventory {
		return &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: hub, Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: namespace, Name: "acme-web"}}
	}
	rebuilt := func(inv *inventory.Inventory, others ...lynq.HubKey) plan.Restoration {
		return plan.Restoration{Inventory: inv, Added: 2, Others: others}
	}
	restored := func(inv *inventory.Inventory) plan.Restoration {
		return plan.Restoration{Inventory: inv, Loss: plan.LossGone}
	}
	for name, test := range map[string]struct {
		list *list.List
		hubs []string
	}{
		"one hub":        {ui.RebuiltList([]plan.Restoration{rebuilt(lost("a", "a")), rebuilt(lost("b", "a"))}, true), []string{"crm a", "crm a"}},
		"two hubs":       {ui.RebuiltList([]plan.Restoration{rebuilt(lost("a", "a")), rebuilt(lost("b", ""))}, true), []string{"a/crm a", "b/crm b"}},
		"another fits":   {ui.RebuiltList([]plan.Restoration{rebuilt(lost("a", "a"), lynq.HubKey{Namespace: "c", Name: "crm"})}, true), []string{"a/crm a"}},
		"restored":       {ui.RestorationList([]plan.Restoration{restored(lost("b", "a"))}, true), []string{"crm a"}},
		"restored, many": {ui.RestorationList([]plan.Restoration{restored(lost("a", "a")), restored(lost("b", "b"))}, true), []string{"a/crm a", "b/crm b"}},
	} {
		t.Run(name, func(t *testing.T) {
			var hubs []string
			for _, item := range test.list.Items {
				if len(item.Cells) != len(test.list.Columns) {
					t.Fatalf("%d cells in %d columns", len(item.Cells), len(test.list.Columns))
				}
				hubs = append(hubs, item.Cells[2]+" "+item.Cells[len(item.Cells)-1])
			}
			if diff := cmp.Diff(test.hubs, hubs); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for want, got := range map[string]*list.List{
		"No inventory needs to be rebuilt":  ui.RebuiltList(nil, true),
		"No inventory can be rebuilt":       ui.RebuiltList(nil, false),
		"No inventory needs to be restored": ui.RestorationList(nil, true),
		"No inventory can be restored":      ui.RestorationList(nil, false),
	} {
		t.Run(want, func(t *testing.T) {
			if got.Empty != want {
				t.Errorf("got %q, want %q", got.Empty, want)
			}
		})
	}
}
