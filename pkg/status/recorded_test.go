package status_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
	"github.com/lynqctl/lynqctl/test/onenode"
)

// verifyScene has one node, and inventories of others.
type verifyScene struct {
	*onenode.Scene
	others []*inventory.Inventory
}

func newVerifyScene() *verifyScene { return &verifyScene{Scene: onenode.New()} }

// managed makes the object one with a strategy that updates. lynq managed these fields, and
// the form doesn't set .data.default among them. Others changed the object since.
func (s *verifyScene) managed(by lynq.PatchStrategy, fields string) {
	s.Live.Fields, s.Live.Updated, s.Live.ResourceVersion = "", true, "8"
	s.Live.Few = &tracking.Rare{Updates: []tracking.Update{{Version: "v1", Fields: metav1.NewFieldsV1(fields)}}}
	s.Entry.Patch, s.Entry.Generation, s.Live.Generation = by, 1, 2
	s.Entry.Defaults, _ = tracking.Defaults([]string{".data.default"})
	s.Entry.Fields = s.Live.Own(s.Entry.Defaults)
}

// bare removes everything of lynqctl from the object.
func (s *verifyScene) bare() {
	s.Live = &tracking.Live{Ref: s.Live.Ref, UID: s.Live.UID, ResourceVersion: "9", Fields: ""}
}

func (s *verifyScene) verify() []status.Finding {
	return status.Find(&status.Comparison{Inventories: []*inventory.Inventory{s.Inventory}, Others: s.others, Live: s.Observed()})
}

// TestVerifyRecords checks each way in which an object can differ from its entry, and
// states that aren't differences.
func TestVerifyRecords(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(s *verifyScene)
		want   status.Type
		says   string
	}{
		"as recorded":            {func(*verifyScene) {}, "", ""},
		"retained":               {(*verifyScene).Retained, "", ""},
		"status moved":           {func(s *verifyScene) { s.Live.ResourceVersion = "8" }, "", ""},
		"unmanaged, and changed": {func(s *verifyScene) { s.Live.Unmanaged, s.Live.Fields = true, "f2" }, "", ""},
		"once, and changed": {func(s *verifyScene) {
			s.Entry.Creation, s.Live.CreatedOnce, s.Live.Fields = lynq.CreateOnce, true, "f2"
		}, "", ""},

		"gone": {func(s *verifyScene) { s.Live = nil }, status.Missing, "it is missing"},
		"once, and gone": {func(s *verifyScene) {
			s.Entry.Creation, s.Live = lynq.CreateOnce, nil
		}, status.Missing, "creates it again"},

		"another, tracked":   {func(s *verifyScene) { s.Live.UID = "u2" }, status.Replaced, "deleted and created again"},
		"another, untracked": {func(s *verifyScene) { s.bare(); s.Live.UID = "u2" }, status.Replaced, "deleted and created again"},
		"another, once": {func(s *verifyScene) {
			s.Entry.Creation, s.Live.CreatedOnce, s.Live.UID = lynq.CreateOnce, true, "u2"
		}, status.Replaced, "deleted and created again"},
		"another, once, untracked": {func(s *verifyScene) {
			s.bare()
			s.Entry.Creation, s.Live.CreatedOnce, s.Live.UID = lynq.CreateOnce, true, "u2"
		}, status.Replaced, "deleted and created again"},

		"another node's labels": {func(s *verifyScene) { s.Live.Node, s.Live.NodeNamespace = "bolt-web", "ns" }, status.Untracked, "it has its node's labels, which its policies do not want"},
		"another node's set": {func(s *verifyScene) {
			s.others = []*inventory.Inventory{{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "ns", Name: "bolt-web"}, UID: "inv2", Entries: slices.Clone(s.Inventory.Entries)}}
			s.Live.PartOf, s.Live.Owners = inventory.ID("ns", "lynqnode-bolt-web"), []types.UID{"inv2"}
		}, status.Foreign, "it belongs to node ns/bolt-web"},
		"an unknown set": {func(s *verifyScene) { s.Live.PartOf = "applyset-x-v1" }, status.Foreign, "it belongs to ApplySet applyset-x-v1"},
		"a controller":   {func(s *verifyScene) { s.Live.Few = &tracking.Rare{Controller: "Widget/boss"} }, status.Foreign, "controller Widget/boss"},
		"a tool":         {func(s *verifyScene) { s.Live.Few = &tracking.Rare{Foreign: "Kustomization flux-system/apps"} }, status.Foreign, "to take it over, set conflictPolicy: Force"},
		"a tool, forced": {func(s *verifyScene) {
			s.Entry.Conflict, s.Live.Few = lynq.ConflictForce, &tracking.Rare{Foreign: "kapp app 1"}
		}, status.Foreign, "apply takes it over again"},
		"a tool, and replaced":  {func(s *verifyScene) { s.Live.UID, s.Live.Few = "u2", &tracking.Rare{Foreign: "kapp app 1"} }, status.Foreign, "kapp app 1"},
		"a tool, and unmanaged": {func(s *verifyScene) { s.Live.Unmanaged, s.Live.Few = true, &tracking.Rare{Foreign: "kapp app 1"} }, "", ""},

		"an orphan": {func(s *verifyScene) { s.bare(); s.Live.Orphaned = true }, status.FindingOrphaned, "marked as an orphan"},
		"an orphan, once": {func(s *verifyScene) {
			s.Retained()
			s.Entry.Creation, s.Live.CreatedOnce, s.Live.Orphaned = lynq.CreateOnce, true, true
		}, status.FindingOrphaned, "takes it back"},
		"going": {func(s *verifyScene) {
			s.Live.Deleting, s.Live.Few = true, &tracking.Rare{Ending: "is being deleted; x holds it"}
		}, status.FindingLeaving, "it is being deleted; x holds it"},

		"never made":      {func(s *verifyScene) { s.Entry.UID, s.Entry.Digest, s.Live = "", "", nil }, status.Unconfirmed, "run apply again"},
		"made, not seen":  {func(s *verifyScene) { s.Entry.UID, s.Entry.Digest = "", "" }, status.Unconfirmed, "run apply again"},
		"there before":    {func(s *verifyScene) { s.bare(); s.Entry.UID, s.Entry.Digest = "", "" }, status.Unconfirmed, ""},
		"change not seen": {func(s *verifyScene) { s.Entry.Digest = "" }, status.Unconfirmed, ""},
		"once, not seen": {func(s *verifyScene) {
			s.Entry.Creation, s.Live.CreatedOnce, s.Entry.Digest = lynq.CreateOnce, true, ""
		}, status.Unconfirmed, ""},
		"recorded, no uid": {func(s *verifyScene) { s.Entry.UID = "" }, status.Unconfirmed, ""},

		"no hub label":      {func(s *verifyScene) { s.Live.Hub, s.Live.Fields = "", "f2" }, status.Untracked, "it lacks label lynq.sh/hub"},
		"no part-of":        {func(s *verifyScene) { s.Live.PartOf = "" }, status.Untracked, "it lacks label applyset.kubernetes.io/part-of"},
		"no owner":          {func(s *verifyScene) { s.Live.Owners = nil }, status.Untracked, "it lacks the owner reference"},
		"nothing":           {(*verifyScene).bare, status.Untracked, "it lacks label lynq.sh/hub, label applyset.kubernetes.io/part-of, the owner reference"},
		"labels too":        {func(s *verifyScene) { s.Live.Node, s.Live.NodeNamespace = "acme-web", "ns" }, status.Untracked, "it has its node's labels, which its policies do not want"},
		"half a label too":  {func(s *verifyScene) { s.Live.NodeNamespace = "ns" }, status.Untracked, "it has its node's labels, which"},
		"half of its label": {func(s *verifyScene) { s.Retained(); s.Live.NodeNamespace = "" }, status.Foreign, "node /acme-web"},
		"no labels":         {func(s *verifyScene) { s.Retained(); s.Live.Node, s.Live.NodeNamespace = "", "" }, status.Untracked, "it lacks its node's labels"},
		"owner too":         {func(s *verifyScene) { s.Retained(); s.Live.Owners = []types.UID{"inv"} }, status.Untracked, "it has the owner reference, which its policies do not want"},
		"the other way":     {func(s *verifyScene) { s.Entry.Deletion = lynq.DeleteRetain }, status.Untracked, "it lacks its node's labels; it has the owner reference, which"},
		"once, no owner": {func(s *verifyScene) {
			s.Entry.Creation, s.Live.CreatedOnce, s.Live.Owners = lynq.CreateOnce, true, nil
		}, status.Untracked, "it lacks the owner reference"},
		"elsewhere, owned": {func(s *verifyScene) {
			s.Live.Namespace, s.Entry.Namespace = "other", "other"
		}, status.Untracked, "it lacks its node's labels; it has the owner reference, which"},

		"drifted":           {func(s *verifyScene) { s.Live.Fields = "f2" }, status.Drifted, "another client changed fields that lynqctl manages"},
		"managed no more":   {func(s *verifyScene) { s.Live.Fields = "" }, status.Drifted, ""},
		"written by update": {func(s *verifyScene) { s.Live.Updated = true }, status.Drifted, ""},
		"merged, changed, and not known what": {func(s *verifyScene) {
			s.Entry.Patch, s.Entry.Fields, s.Live.ResourceVersion = lynq.PatchMerge, "", "8"
		}, "", ""},
		"merged, fields of others changed": {func(s *verifyScene) { s.managed(lynq.PatchMerge, `{"f:data":{"f:plan":{}}}`) }, "", ""},
		"merged, a default changed": {func(s *verifyScene) {
			s.managed(lynq.PatchMerge, `{"f:data":{"f:plan":{},"f:default":{}}}`)
			s.Live.Few.Updates[0].Fields = metav1.NewFieldsV1(`{"f:data":{"f:plan":{}}}`)
		}, "", ""},
		"merged, ours changed": {func(s *verifyScene) {
			s.managed(lynq.PatchMerge, `{"f:data":{"f:plan":{}}}`)
			s.Live.Few = nil
		}, status.Drifted, "another client changed fields that lynqctl manages"},
		"replaced, fields of others changed": {func(s *verifyScene) { s.managed(lynq.PatchReplace, `{"f:data":{"f:plan":{}}}`) }, "", ""},
		"replaced, ours changed": {func(s *verifyScene) {
			s.managed(lynq.PatchReplace, `{"f:data":{"f:plan":{}}}`)
			s.Live.Few.Updates[0].At = "2026-01-01T00:00:00Z"
		}, status.Drifted, "another client changed fields that lynqctl manages"},
		"applied, another wrote and no field of ours is gone": {func(s *verifyScene) {
			s.Live.Last, s.Live.ResourceVersion = true, "8"
		}, "", ""},
		"taken by an applier": {func(s *verifyScene) {
			s.Live.Fields, s.Live.Few = "fewer", &tracking.Rare{AppliedBy: []string{"gitops", "argocd", "gitops"}}
		}, status.Conflict, `and "argocd" and "gitops" applied fields since`},
		"taken by an applier, and Force": {func(s *verifyScene) {
			s.Live.Fields, s.Entry.Conflict, s.Live.Few = "fewer", lynq.ConflictForce, &tracking.Rare{AppliedBy: []string{"gitops"}}
		}, status.Drifted, "apply restores them"},
		"an applier took nothing": {func(s *verifyScene) { s.Live.Few = &tracking.Rare{AppliedBy: []string{"gitops"}} }, "", ""},
		"merged, unchanged":       {func(s *verifyScene) { s.Entry.Patch = lynq.PatchMerge }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newVerifyScene()
			tt.change(s)
			found := s.verify()
			if tt.want == "" {
				if len(found) > 0 {
					t.Fatalf("found %+v, want nothing", found)
				}
				return
			}
			if len(found) != 1 || found[0].Type != tt.want {
				t.Fatalf("found %+v, want one of type %s", found, tt.want)
			}
			f := found[0]
			if f.NodeID != s.Inventory.Node || f.Object != s.Entry.Ref || f.ID != "settings" {
				t.Errorf("it is about %+v", f)
			}
			if text := f.What + " " + f.Fix; !strings.Contains(text, tt.says) || f.What == "" || f.Fix == "" {
				t.Errorf("it says %q, want %q", text, tt.says)
			}
		})
	}
}

// TestVerifyDeletedRecord checks that a deleted inventory is the only finding of its node.
func TestVerifyDeletedRecord(t *testing.T) {
	const ways = "to keep the node and its objects, run lynqctl inventory restore acme-web -n ns, or apply while its row is active. " +
		"To delete the node and its objects, run lynqctl finalize --node acme-web -n ns"
	for name, tt := range map[string]struct {
		finalizer bool
		others    *inventory.Others
		says      string
	}{
		"by us":          {true, nil, "someone deleted the node's inventory: " + ways},
		"by others, too": {true, &inventory.Others{Finalizers: []string{"example.com/x"}}, "someone deleted the node's inventory, and another client's finalizer holds it: " + ways},
		"by others alone": {false, &inventory.Others{Finalizers: []string{"example.com/x"}},
			"someone deleted the node's inventory, and another client's finalizer holds it: lynqctl's finalizer is gone, so the garbage collector deletes the objects that belong to the inventory when it goes"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newVerifyScene()
			s.Inventory.Deleting, s.Inventory.Finalizer, s.Inventory.Others, s.Live = true, tt.finalizer, tt.others, nil
			found := s.verify()
			want := lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "lynqnode-acme-web"}
			if len(found) != 1 || found[0].Type != status.FindingLeaving || found[0].Object != want || found[0].What+": "+found[0].Fix != tt.says {
				t.Errorf("held %s: found %+v, want %s", name, found, tt.says)
			}
		})
	}
}

// TestVerifyUnrecorded checks objects with tracking and without an entry.
func TestVerifyUnrecorded(t *testing.T) {
	extra := func(change func(*tracking.Live)) *tracking.Live {
		l := *newVerifyScene().Live
		l.Ref, l.UID, l.ResourceID = lynq.Ref{Kind: "Service", Namespace: "ns", Name: "acme"}, "u5", "svc"
		change(&l)
		return &l
	}
	labelled := func(node string) func(*tracking.Live) {
		return func(l *tracking.Live) { l.Owners, l.PartOf, l.Node, l.NodeNamespace = nil, "", node, "ns" }
	}
	lost := func(l *tracking.Live) {
		labelled("lost-web")(l)
		l.PartOf = inventory.ID("ns", "lynqnode-lost-web")
	}
	const ours, theirs = "ns/acme-web crm/web", "ns/lost-web crm/"
	for name, tt := range map[string]struct {
		live *tracking.Live
		want string // node hub/form, "" for no finding
	}{
		"owned":                 {extra(func(*tracking.Live) {}), ours},
		"owned only":            {extra(func(l *tracking.Live) { l.PartOf, l.Hub = "", "" }), ours},
		"part-of only":          {extra(func(l *tracking.Live) { l.Owners = nil }), ours},
		"labelled only":         {extra(labelled("acme-web")), ours},
		"of another hub":        {extra(func(l *tracking.Live) { labelled("acme-web")(l); l.Hub = "erp" }), ""},
		"unmanaged":             {extra(func(l *tracking.Live) { l.Unmanaged = true }), ours},
		"node has no record":    {extra(lost), theirs},
		"rendered, not applied": {extra(labelled("lost-web")), ""},
		"of a broken record": {extra(func(l *tracking.Live) {
			lost(l)
			l.Node = "torn-web"
			l.PartOf = inventory.ID("ns", "lynqnode-torn-web")
		}), ""},
		"owner gone": {extra(func(l *tracking.Live) { l.Owners, l.PartOf = nil, "applyset-x-v1" }), "ns/ crm/"},
		"owner's record broken": {extra(func(l *tracking.Live) {
			l.Owners, l.PartOf = []types.UID{"inv9"}, inventory.ID("ns", "lynqnode-torn-web")
		}), ""},
		"another tool's set":         {extra(func(l *tracking.Live) { l.Owners, l.PartOf, l.Fields = nil, "applyset-x-v1", "" }), ""},
		"an orphan":                  {extra(func(l *tracking.Live) { l.Orphaned = true }), ""},
		"going":                      {extra(func(l *tracking.Live) { l.Deleting = true }), ""},
		"a controller's":             {extra(func(l *tracking.Live) { l.Few = &tracking.Rare{Controller: "Service/acme"} }), ""},
		"another tool's":             {extra(func(l *tracking.Live) { l.Few = &tracking.Rare{Foreign: "Application shop"} }), ""},
		"a copy":                     {extra(func(l *tracking.Live) { l.ResourceID = "" }), ""},
		"recorded":                   {newVerifyScene().Live, ""},
		"recorded, of another group": {extra(func(l *tracking.Live) { l.Group, l.UID = "legacy.example.com", "u1" }), ""},
		"recorded by another node":   {extra(func(l *tracking.Live) { l.Name = "bolt" }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newVerifyScene()
			found := status.Find(&status.Comparison{
				Inventories: []*inventory.Inventory{s.Inventory},
				Others: []*inventory.Inventory{{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "ns", Name: "bolt-web"}, UID: "inv2", Entries: []inventory.Entry{
					{Ref: lynq.Ref{Kind: "Service", Namespace: "ns", Name: "bolt"}},
				}}},
				Broken:  map[lynq.NodeKey]bool{{Namespace: "ns", Name: "torn-web"}: true},
				Live:    map[lynq.Ref]*tracking.Live{s.Live.Ref: s.Live},
				Tracked: []*tracking.Live{tt.live},
			})
			got := ""
			for _, f := range found {
				got += fmt.Sprintf("%s %s/%s", f.NodeID, f.Hub.Name, f.Form.Name)
				if f.Type != status.Unrecorded || f.Object != tt.live.Ref || f.ID != "svc" || f.What == "" || f.Fix == "" {
					t.Errorf("found %+v", f)
				}
			}
			if got != tt.want {
				t.Errorf("found it at %q, want %q", got, tt.want)
			}
		})
	}
}

// TestVerifySorted checks that findings have one order, whatever the order of the input.
func TestVerifySorted(t *testing.T) {
	record := func(name string) inventory.Entry {
		return inventory.Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: name}, UID: "u", Digest: "d"}
	}
	a := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "ns", Name: "a-web"}, UID: "a", Entries: []inventory.Entry{record("2"), record("1")}}
	b := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "ns", Name: "b-web"}, UID: "b", Entries: []inventory.Entry{record("3")}}
	tracked := []*tracking.Live{
		{Ref: lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "5"}, UID: "u5", ResourceID: "x", Owners: []types.UID{"a"}},
		{Ref: lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "4"}, UID: "u4", ResourceID: "x", Owners: []types.UID{"a"}},
	}
	want := []string{"ConfigMap/ns/1", "ConfigMap/ns/2", "Secret/ns/4", "Secret/ns/5", "ConfigMap/ns/3"}
	for _, in := range []status.Comparison{
		{Inventories: []*inventory.Inventory{a, b}, Tracked: tracked},
		{Inventories: []*inventory.Inventory{b, a}, Tracked: []*tracking.Live{tracked[1], tracked[0]}},
	} {
		var got []string
		for _, f := range status.Find(&in) {
			got = append(got, f.Object.Full())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// TestVerifyPurged checks an object with completed work. It is as recorded if it is gone,
// and a finding if it still exists.
func TestVerifyPurged(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(s *verifyScene)
		want   []status.Type
	}{
		"done":                           {func(s *verifyScene) { s.Entry.UID, s.Live = "", nil }, nil},
		"gone, and not recorded yet":     {func(s *verifyScene) { s.Live = nil }, nil},
		"under way":                      {func(*verifyScene) {}, []status.Type{status.Unconfirmed}},
		"another client's, of that name": {func(s *verifyScene) { s.Entry.UID = ""; s.bare(); s.Live.UID = "u2" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newVerifyScene()
			s.Entry.Phase = inventory.PhaseCompleted
			tt.change(s)
			var got []status.Type
			for _, f := range s.verify() {
				got = append(got, f.Type)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}
