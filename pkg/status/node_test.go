package status_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// at is a time of the tests.
func at(minute int) time.Time { return time.Date(2026, 3, 4, 4, minute, 0, 0, time.UTC) }

// conditions returns an inventory's conditions, which began at minutes 1, 2 and 3.
func conditions(degraded, progressing, ready string) []inventory.Condition {
	return []inventory.Condition{
		{Type: "Degraded", Status: degraded, Reason: "NotReady", Message: "why", LastTransitionTime: at(1)},
		{Type: "Progressing", Status: progressing, Reason: "NotWaitedFor", LastTransitionTime: at(2)},
		{Type: "Ready", Status: ready, Reason: "AllReady", LastTransitionTime: at(3)},
	}
}

func TestOf(t *testing.T) {
	for name, tt := range map[string]struct {
		conditions []inventory.Condition
		deleting   bool
		activate   string
		condition  string
		since      time.Time
		well       bool
		message    string
	}{
		"well":                {conditions("False", "False", "True"), false, "true", "Ready", at(3), true, ""},
		"not well":            {conditions("True", "False", "False"), false, "true", "Degraded: NotReady", at(1), false, "why"},
		"not waited for":      {conditions("False", "True", "Unknown"), false, "true", "Progressing", at(2), false, ""},
		"none is true":        {conditions("False", "False", "Unknown"), false, "true", "Unknown", time.Time{}, false, ""},
		"no run ended":        {nil, false, "true", "Unknown", time.Time{}, false, ""},
		"somebody deleted it": {conditions("False", "False", "True"), true, "true", "Leaving", time.Time{}, false, ""},
		"it began to go":      {conditions("False", "False", "True"), false, "false", "Leaving", time.Time{}, false, ""},
		"it could not go":     {conditions("True", "False", "False"), false, "false", "Degraded: NotReady", at(1), false, "why"},
		"without a reason": {[]inventory.Condition{{Type: "Degraded", Status: "True", LastTransitionTime: at(4)}},
			false, "true", "Degraded", at(4), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := status.Of(&inventory.Inventory{
				Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: "shop", Name: "acme-web"}, Created: at(0),
				Deleting: tt.deleting, Activate: tt.activate,
				Status: inventory.Status{Desired: 5, Ready: 1, Failed: 2, Skipped: 3, Conflicted: 4, Conditions: tt.conditions},
			})
			want := status.Node{
				NodeID: lynq.NodeID{Name: "acme-web", Namespace: "shop", Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Form: lynq.FormKey{Namespace: "shop", Name: "web"}, UID: "acme"}, Created: at(0),
				Well: tt.well, Condition: tt.condition, Since: tt.since, Message: tt.message,
				Desired: 5, Ready: 1, Failed: 2, Skipped: 3, Conflicted: 4,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestOfBroken(t *testing.T) {
	b := &inventory.UnreadableError{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, Namespace: "shop", Name: "acme-web"}, Name: "lynqnode-acme-web", Where: "data.status", Err: errors.New("it is missing")}
	want := status.Node{
		NodeID:    lynq.NodeID{Name: "acme-web", Namespace: "shop", Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Form: lynq.FormKey{Namespace: "shop", Name: "web"}},
		Condition: "Unreadable", Message: b.Error(),
	}
	if diff := cmp.Diff(want, status.OfBroken(b)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestNamespaces checks which namespaces of hub and form come from an inventory.
func TestNamespaces(t *testing.T) {
	n := status.Of(&inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "web"}, Namespace: "nodes", Name: "acme-web"}})
	if n.Hub.String() != "hubs/crm" || n.Form.String() != "forms/web" {
		t.Errorf("hub %s and form %s", n.Hub, n.Form)
	}
	n = status.Of(&inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Name: "web"}, Namespace: "nodes", Name: "acme-web"}})
	if n.Form.String() != "hubs/web" {
		t.Errorf("form %s of an old record", n.Form)
	}
	n = status.OfBroken(&inventory.UnreadableError{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "web"}, Namespace: "nodes", Name: "acme-web"}, Err: errors.New("torn")})
	if n.Hub.String() != "hubs/crm" || n.Form.String() != "forms/web" {
		t.Errorf("of one that cannot be read: hub %s and form %s", n.Hub, n.Form)
	}
	n = status.OfBroken(&inventory.UnreadableError{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "nodes", Name: "acme-web"}, Err: errors.New("torn")})
	if n.Form.Namespace != "" {
		t.Errorf("a form that is not known is in namespace %s", n.Form.Namespace)
	}
}

// TestSumForms checks that forms of one name in two namespaces are separate.
func TestSumForms(t *testing.T) {
	node := func(form string) status.Node {
		return status.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Form: lynq.FormKey{Namespace: form, Name: "web"}}, Well: true}
	}
	sums := status.Sum([]status.Node{node("far"), node("shop"), node("shop")}, nil)
	one, two := status.Counts{Nodes: 1, Healthy: 1, Well: 1}, status.Counts{Nodes: 2, Healthy: 2, Well: 2}
	want := []status.Form{{Name: "web", Namespace: "far", Counts: one}, {Name: "web", Namespace: "shop", Counts: two}}
	if len(sums) != 1 || !cmp.Equal(sums[0].Forms, want) {
		t.Errorf("%+v, want forms %+v", sums, want)
	}
}

// TestSum checks that hubs of one name in two namespaces are separate. A hub without nodes
// appears because of its record. A node without a hub is in no total.
func TestSum(t *testing.T) {
	node := func(hubNamespace, hub, form string, well bool) status.Node {
		return status.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: hubNamespace, Name: hub}, Form: lynq.FormKey{Name: form}}, Well: well, Desired: 5, Ready: 1, Failed: 1, Skipped: 2, Conflicted: 1}
	}
	got := status.Sum([]status.Node{
		node("b", "crm", "web", true), node("a", "crm", "web", false), node("b", "crm", "db", false), node("b", "crm", "web", false), node("x", "", "", false),
	}, []*inventory.Hub{
		{Namespace: "b", Name: "crm", Rows: 9, Active: 3, Nodes: 6, Time: at(1)},
		{Namespace: "c", Name: "idle", Rows: 2, Deleting: true},
	})
	counts := func(nodes, well int) status.Counts {
		return status.Counts{Nodes: nodes, Healthy: well, Well: well, Desired: 5 * nodes, Ready: nodes, Failed: nodes, Skipped: 2 * nodes, Conflicted: nodes}
	}
	want := []status.Hub{
		{Namespace: "a", Name: "crm", Counts: counts(1, 0), Forms: []status.Form{{Name: "web", Counts: counts(1, 0)}}},
		{Namespace: "b", Name: "crm", Counts: counts(3, 1), Run: &status.Run{Time: at(1), Rows: 9, Active: 3, Nodes: 6},
			Forms: []status.Form{{Name: "db", Counts: counts(1, 0)}, {Name: "web", Counts: counts(2, 1)}}},
		{Namespace: "c", Name: "idle", Deleting: true, Run: &status.Run{Rows: 2}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCondition(t *testing.T) {
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
		t.Run(name, func(t *testing.T) {
			got, since := status.Condition(&inventory.Inventory{Deleting: tt.deleting, Status: inventory.Status{Conditions: tt.conditions}})
			if got != tt.want || !since.Equal(tt.since) {
				t.Errorf("got %q since %v, want %q since %v", got, since, tt.want, tt.since)
			}
		})
	}
}
