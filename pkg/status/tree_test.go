package status_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// entry returns the entry of a Deployment.
func entry(name, uid, digest string, order int) inventory.Entry {
	return inventory.Entry{
		Ref: lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}, ID: name, UID: uid, Digest: digest, Order: order,
		Lifecycle: lynq.Lifecycle{Creation: lynq.CreateOnce, Deletion: lynq.DeleteDelete, Conflict: lynq.ConflictForce, Patch: lynq.PatchApply},
	}
}

// seen returns the current state of an object.
func seen(kind, name string, uid, owner types.UID, state ready.State, message string) status.Seen {
	group := "apps"
	if kind == "Pod" {
		group = ""
	}
	return status.Seen{Ref: lynq.Ref{Group: group, Kind: kind, Namespace: "shop", Name: name}, UID: uid, Owner: owner, Readiness: ready.Readiness{State: state, Message: message}}
}

// nowOf returns the findings for these objects. An object is missing if it is gone, or if
// another uid replaced it.
func nowOf(inv *inventory.Inventory, seen map[lynq.Ref]status.Seen) *status.Now {
	now := &status.Now{Ready: map[lynq.Ref]ready.Readiness{}}
	in := &status.Comparison{Live: map[lynq.Ref]*tracking.Live{}}
	known := *inv
	known.Entries = nil
	for _, r := range inv.Entries {
		s, looked := seen[r.Ref]
		if looked && s.Unknown == nil {
			known.Entries = append(known.Entries, r)
		}
		if s.UID != "" {
			now.Ready[r.Ref] = s.Readiness
			in.Live[r.Ref] = &tracking.Live{Ref: r.Ref, UID: s.UID, CreatedOnce: true, ResourceID: r.ID, DeletionPolicy: r.Deletion,
				Hub: inv.Node.Hub.Name, PartOf: inventory.ID(inv.Node.Namespace, inventory.Name(inv.Node.Name)), Owners: []types.UID{types.UID(inv.UID)}}
		}
	}
	in.Inventories = []*inventory.Inventory{&known}
	now.Findings = status.FindingsOf(status.Find(in))
	return now
}

func TestTree(t *testing.T) {
	inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "shop", Name: "n"}, UID: "inv", Entries: []inventory.Entry{
		entry("d-last", "1", "x", 7), entry("c", "3", "", 1), entry("b", "", "", 1), entry("a", "5", "x", 1), entry("e-other", "9", "x", 1), entry("f", "8", "x", 1),
	}}
	now := map[lynq.Ref]status.Seen{}
	for _, s := range []status.Seen{
		seen("Deployment", "d-last", "1", "", "waiting", "0 of 1"), seen("Deployment", "c", "3", "", "ready", ""),
		seen("Deployment", "b", "", "", "gone", ""), seen("Deployment", "a", "", "", "gone", ""), seen("Deployment", "e-other", "10", "", "waiting", "0 of 1"),
	} {
		now[s.Ref] = s
	}
	got := status.Tree(inv, nowOf(inv, now), now, []status.Seen{
		seen("Pod", "p2", "22", "11", "ready", ""), seen("Pod", "p1", "21", "11", "waiting", "image"),
		seen("ReplicaSet", "r", "11", "1", "waiting", "0 of 1"), seen("Pod", "p1", "21", "11", "waiting", "image"),
		seen("Pod", "stranger", "30", "99", "ready", ""), seen("Pod", "bare", "31", "", "ready", ""),
		seen("Deployment", "c", "3", "1", "ready", ""), // it has an entry, so it is a root
	})
	type line struct {
		Depth       int
		Name, State string
		Message     string
	}
	var lines []line
	var walk func([]status.Object, int)
	walk = func(objects []status.Object, depth int) {
		for _, o := range objects {
			lines = append(lines, line{depth, o.Kind + "/" + o.Name, o.Condition(), o.Message})
			if (depth == 0) != (o.Policies != nil) {
				t.Errorf("%s has policies %v", o.Name, o.Policies)
			}
			walk(o.Owned, depth+1)
		}
	}
	walk(got, 0)
	want := []line{
		{0, "Deployment/a", "Degraded: Missing", "it is missing: apply creates it again"},
		{0, "Deployment/b", "Progressing", "the last run couldn't confirm that it wrote the object: run apply again"},
		{0, "Deployment/c", "Ready", "the last write is not confirmed"},
		{0, "Deployment/e-other", "Degraded: Replaced", "it was deleted and created again: apply updates it; 0 of 1"},
		{0, "Deployment/f", "Unknown", ""},
		{0, "Deployment/d-last", "Progressing", "0 of 1"},
		{1, "ReplicaSet/r", "Progressing", "0 of 1"},
		{2, "Pod/p1", "Progressing", "image"},
		{2, "Pod/p2", "Ready", ""},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"Degraded": 2, "Ready": 1, "Progressing": 2, "Unknown": 1}, status.Tally(got)); diff != "" {
		t.Errorf("counts: (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Once", "Force"}, got[0].Policies.Unusual()); diff != "" {
		t.Errorf("policies: (-want +got)\n%s", diff)
	}
}

// TestTreeOfLastRun checks that the tree shows the last run's results for written and
// unwritten objects.
func TestTreeOfLastRun(t *testing.T) {
	told := func(name, reason, message string, since int) inventory.ObjectStatus {
		o := inventory.ObjectStatus{ID: name, RefFields: lynq.RefFields{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}, Reason: reason, Message: message}
		if since > 0 {
			o.Since = at(since)
		}
		return o
	}
	inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "shop", Name: "n"}, UID: "inv",
		Entries: []inventory.Entry{entry("a", "1", "x", 0), entry("b", "2", "x", 0)},
		Status: inventory.Status{Objects: []inventory.ObjectStatus{
			told("a", "TimedOut", "not in time", 1), told("b", "Conflict", "it is theirs", 0), told("c", "DependencyFailed", "a is not ready", 0),
			told("d", "Interrupted", "it was not its turn yet", 0), told("e", "Unmanaged", "as it is", 0),
		}},
	}
	var lines []string
	seen := map[lynq.Ref]status.Seen{
		inv.Entries[0].Ref: seen("Deployment", "a", "1", "", "waiting", "0 of 1"),
		inv.Entries[1].Ref: seen("Deployment", "b", "2", "", "ready", ""),
	}
	for _, o := range status.Tree(inv, nowOf(inv, seen), seen, nil) {
		lines = append(lines, o.Name+" "+o.Condition()+": "+o.Message+": "+o.LastRun.Reason)
	}
	want := []string{
		"a Progressing: 0 of 1: TimedOut", "b Degraded: Conflict: it is theirs: Conflict", "c Degraded: DependencyFailed: a is not ready: DependencyFailed",
		"d Progressing: it was not its turn yet: Interrupted", "e Unknown: Unmanaged: as it is: Unmanaged",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	inv.Status.Conditions = []inventory.Condition{{Type: inventory.ConditionReady, Status: "True"}}
	if got := status.Tree(inv, &status.Now{}, nil, nil); len(got) != 2 {
		t.Errorf("a ready node has %d objects", len(got))
	}
}

// TestTreeOfLeaving checks a node in deletion. A deleted object isn't missing, and one in
// deletion is Leaving.
func TestTreeOfLeaving(t *testing.T) {
	inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "shop", Name: "n"}, UID: "inv", Deleting: true, Entries: []inventory.Entry{entry("a", "1", "x", 0), entry("b", "2", "x", 0), entry("c", "3", "x", 0)}}
	seen := map[lynq.Ref]status.Seen{
		inv.Entries[0].Ref: seen("Deployment", "a", "", "", "gone", ""),
		inv.Entries[1].Ref: seen("Deployment", "b", "2", "", "deleting", "is being deleted"),
		inv.Entries[2].Ref: {Ref: inv.Entries[2].Ref, Unknown: errors.New("forbidden")},
	}
	var lines []string
	for _, o := range status.Tree(inv, nowOf(inv, seen), seen, nil) {
		lines = append(lines, o.Name+" "+o.Condition()+": "+o.Message)
	}
	if diff := cmp.Diff([]string{"a Leaving: it is gone", "b Leaving: is being deleted", "c Unknown: forbidden"}, lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestTreeRound checks that owners in a cycle don't make an endless tree.
func TestTreeRound(t *testing.T) {
	inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "shop", Name: "n"}, UID: "inv", Entries: []inventory.Entry{entry("a", "1", "x", 0)}}
	a := seen("Deployment", "a", "1", "3", "ready", "")
	got := status.Tree(inv, &status.Now{}, map[lynq.Ref]status.Seen{a.Ref: a}, []status.Seen{
		seen("Pod", "b", "2", "1", "ready", ""), seen("Pod", "c", "3", "2", "ready", ""), seen("Pod", "own", "4", "4", "ready", ""),
	})
	if len(got) != 1 || len(got[0].Owned) != 1 || len(got[0].Owned[0].Owned) != 1 || got[0].Owned[0].Owned[0].Owned != nil {
		t.Errorf("got %+v", got)
	}
}

func TestEventOf(t *testing.T) {
	object := func(more map[string]any) *unstructured.Unstructured {
		o := map[string]any{
			"type": "Warning", "reason": "Failed", "message": "no image",
			"involvedObject": map[string]any{"kind": "Pod", "namespace": "shop", "name": "p", "uid": "u"},
		}
		for k, v := range more {
			o[k] = v
		}
		return &unstructured.Unstructured{Object: o}
	}
	event := func(minute int, count int64) status.Event {
		e := status.Event{Type: "Warning", Reason: "Failed", Message: "no image", Kind: "Pod", Namespace: "shop", Name: "p", Count: count}
		if minute > 0 {
			e.Time = at(minute)
		}
		return e
	}
	for name, tt := range map[string]struct {
		more map[string]any
		want status.Event
	}{
		"of old": {map[string]any{"firstTimestamp": "2026-03-04T04:01:00Z", "lastTimestamp": "2026-03-04T04:02:00Z", "eventTime": nil, "count": int64(3)}, event(2, 3)},
		"a series": {map[string]any{"lastTimestamp": nil, "eventTime": "2026-03-04T04:01:00.000000Z",
			"series": map[string]any{"count": int64(7), "lastObservedTime": "2026-03-04T04:05:00.000000Z"}}, event(5, 7)},
		"one":      {map[string]any{"eventTime": "2026-03-04T04:01:00.000000Z"}, event(1, 1)},
		"timeless": {map[string]any{"lastTimestamp": 7, "count": "x"}, event(0, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			got, of := status.EventOf(object(tt.more))
			if diff := cmp.Diff(tt.want, got); diff != "" || of != "u" {
				t.Errorf("of %q (-want +got)\n%s", of, diff)
			}
		})
	}
	if got, of := status.EventOf(&unstructured.Unstructured{Object: map[string]any{"involvedObject": "x"}}); of != "" || got.Name != "" {
		t.Errorf("got %+v of %q of no event", got, of)
	}
}
