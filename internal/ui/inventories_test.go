package ui_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestInventoryDetails: objects come in the order in which they are applied, and what
// is not confirmed says so.
func TestInventoryDetails(t *testing.T) {
	record := func(name string, order int, uid, digest string, ready bool) inventory.Entry {
		p := lynq.DefaultPolicy()
		return inventory.Entry{
			Ref: lynq.Ref{Kind: "Secret", Namespace: "ns", Name: name}, ID: name, Order: order, UID: uid, Digest: digest, Ready: ready,
			Creation: p.Creation, Deletion: p.Deletion, Conflict: p.Conflict, Patch: p.Patch,
		}
	}
	retained := record("d", 2, "u", "0123456789abcdef", false)
	retained.Deletion, retained.Patch, retained.Adopted = lynq.DeleteRetain, lynq.PatchReplace, true
	d := ui.InventoryDetails(&inventory.Inventory{Node: "n", Status: inventory.Status{Objects: []inventory.ObjectStatus{{Kind: "Secret", Namespace: "ns", Name: "d", Reason: inventory.ObjectTimedOut}}}, Entries: []inventory.Entry{
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
