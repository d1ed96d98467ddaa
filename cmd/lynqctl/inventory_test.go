package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestConditionOf(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 3, 4, 4, minute, 0, 0, time.UTC) }
	conditions := func(degraded, progressing, ready string) []inventory.Condition {
		return []inventory.Condition{
			{Type: "Degraded", Status: degraded, Reason: "NotReady", LastTransitionTime: at(1)},
			{Type: "Progressing", Status: progressing, Reason: "NotWaitedFor", LastTransitionTime: at(2)},
			{Type: "Ready", Status: ready, Reason: "AllReady", LastTransitionTime: at(3)},
		}
	}
	for name, tt := range map[string]struct {
		conditions []inventory.Condition
		deleting   bool
		want       string
		since      time.Time
	}{
		"well":            {conditions("False", "False", "True"), false, "Ready", at(3)},
		"not well":        {conditions("True", "False", "False"), false, "Degraded: NotReady", at(1)},
		"not waited for":  {conditions("False", "True", "Unknown"), false, "Progressing", at(2)},
		"neither":         {conditions("False", "False", "Unknown"), false, "Unknown", time.Time{}},
		"no run ended":    {nil, false, "Unknown", time.Time{}},
		"deleted by hand": {conditions("True", "False", "False"), true, "Leaving", time.Time{}},
	} {
		got, since := conditionOf(&inventory.Inventory{Deleting: tt.deleting, Status: inventory.Status{Conditions: tt.conditions}})
		if got != tt.want || (since == nil) != tt.since.IsZero() || since != nil && !since.Equal(tt.since) {
			t.Errorf("%s: got %q since %v, want %q since %v", name, got, since, tt.want, tt.since)
		}
	}
}

// TestDetailsOrder: objects come in the order in which they are applied, and what
// is not confirmed says so.
func TestDetailsOrder(t *testing.T) {
	record := func(name string, order int, uid, digest string, ready bool) inventory.Entry {
		p := lynq.DefaultPolicy()
		return inventory.Entry{
			Ref: lynq.Ref{Kind: "Secret", Namespace: "ns", Name: name}, ID: name, Order: order, UID: uid, Digest: digest, Ready: ready,
			Creation: p.Creation, Deletion: p.Deletion, Conflict: p.Conflict, Patch: p.Patch,
		}
	}
	retained := record("d", 2, "u", "0123456789abcdef", false)
	retained.Deletion, retained.Patch, retained.Adopted = lynq.DeleteRetain, lynq.PatchReplace, true
	d := detailsOf(&inventory.Inventory{Node: "n", Status: inventory.Status{Objects: []inventory.ObjectStatus{{Kind: "Secret", Namespace: "ns", Name: "d", Reason: inventory.ObjectTimedOut}}}, Entries: []inventory.Entry{
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
