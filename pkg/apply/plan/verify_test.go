package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// verifyScene is one node, ns/acme-web, with one record of a ConfigMap that is as
// it was recorded.
type verifyScene struct {
	inv    *inventory.Inventory
	entry  *inventory.Entry
	live   *Live
	others []*inventory.Inventory
}

// managed has an object written by a strategy that updates: lynq managed these fields, of
// which .data.default is one that the form does not set. Others changed the object since.
func (s *verifyScene) managed(by lynq.PatchStrategy, fields string) {
	s.live.Fields, s.live.Updated, s.live.ResourceVersion = "", true, "8"
	s.live.Updates = []Update{{Version: "v1", Fields: metav1.NewFieldsV1(fields)}}
	s.entry.Patch, s.entry.Generation, s.live.Generation = by, 1, 2
	s.entry.Defaults, _ = Defaults([]string{".data.default"})
	s.entry.Fields = s.live.Own(s.entry.Defaults)
}

func newVerifyScene() *verifyScene {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme"}
	inv := &inventory.Inventory{Node: "acme-web", Namespace: "ns", Hub: "crm", Form: "web", RowUID: "acme", UID: "inv", Entries: []inventory.Entry{{
		Ref: ref, ID: "settings", APIVersion: "v1", UID: "u1", Digest: "d1", ResourceVersion: "7", Fields: "f1",
		Creation: lynq.CreateWhenNeeded, Deletion: lynq.DeleteDelete, Conflict: lynq.ConflictStuck, Patch: lynq.PatchApply,
	}}}
	live := &Live{
		Ref: ref, UID: "u1", ResourceVersion: "7", Hub: "crm", PartOf: inventory.ID("ns", "lynqnode-acme-web"),
		Owners: []types.UID{"inv"}, ResourceID: "settings", DeletionPolicy: lynq.DeleteDelete, Fields: "f1",
	}
	return &verifyScene{inv: inv, entry: &inv.Entries[0], live: live}
}

// retained is the same with policy Retain: labels track it.
func (s *verifyScene) retained() {
	s.entry.Deletion, s.live.DeletionPolicy = lynq.DeleteRetain, lynq.DeleteRetain
	s.live.Owners, s.live.Node, s.live.NodeNamespace = nil, "acme-web", "ns"
}

// bare is the object without anything of lynqctl.
func (s *verifyScene) bare() {
	s.live = &Live{Ref: s.live.Ref, UID: s.live.UID, ResourceVersion: "9", Fields: ""}
}

func (s *verifyScene) verify() []Finding {
	in := &VerifyInput{Inventories: []*inventory.Inventory{s.inv}, Others: s.others, Live: map[lynq.Ref]*Live{}}
	if s.live != nil {
		in.Live[s.live.Ref] = s.live
	}
	return Verify(in)
}

// TestVerifyRecords: each way in which an object differs from its record, and
// those that are no difference.
func TestVerifyRecords(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(s *verifyScene)
		want   FindingType
		says   string
	}{
		"as recorded":            {func(*verifyScene) {}, "", ""},
		"retained":               {(*verifyScene).retained, "", ""},
		"status moved":           {func(s *verifyScene) { s.live.ResourceVersion = "8" }, "", ""},
		"unmanaged, and changed": {func(s *verifyScene) { s.live.Unmanaged, s.live.Fields = true, "f2" }, "", ""},
		"once, and changed": {func(s *verifyScene) {
			s.entry.Creation, s.live.CreatedOnce, s.live.Fields = lynq.CreateOnce, true, "f2"
		}, "", ""},

		"gone": {func(s *verifyScene) { s.live = nil }, FindingMissing, "it is gone"},
		"once, and gone": {func(s *verifyScene) {
			s.entry.Creation, s.live = lynq.CreateOnce, nil
		}, FindingMissing, "creates it again"},

		"another, tracked":   {func(s *verifyScene) { s.live.UID = "u2" }, FindingReplaced, "deleted and created again"},
		"another, untracked": {func(s *verifyScene) { s.bare(); s.live.UID = "u2" }, FindingReplaced, "deleted and created again"},
		"another, once": {func(s *verifyScene) {
			s.entry.Creation, s.live.CreatedOnce, s.live.UID = lynq.CreateOnce, true, "u2"
		}, FindingReplaced, "deleted and created again"},
		"another, once, untracked": {func(s *verifyScene) {
			s.bare()
			s.entry.Creation, s.live.CreatedOnce, s.live.UID = lynq.CreateOnce, true, "u2"
		}, FindingReplaced, "deleted and created again"},

		"another node's labels": {func(s *verifyScene) { s.live.Node, s.live.NodeNamespace = "bolt-web", "ns" }, FindingUntracked, "it has its node's labels, which its policies do not want"},
		"another node's set": {func(s *verifyScene) {
			s.others = []*inventory.Inventory{{Node: "bolt-web", Namespace: "ns", Hub: "crm", UID: "inv2", Entries: slices.Clone(s.inv.Entries)}}
			s.live.PartOf, s.live.Owners = inventory.ID("ns", "lynqnode-bolt-web"), []types.UID{"inv2"}
		}, FindingForeign, "it belongs to node ns/bolt-web"},
		"an unknown set":        {func(s *verifyScene) { s.live.PartOf = "applyset-x-v1" }, FindingForeign, "it belongs to ApplySet applyset-x-v1"},
		"a controller":          {func(s *verifyScene) { s.live.Controller = "Widget/boss" }, FindingForeign, "controller Widget/boss"},
		"a tool":                {func(s *verifyScene) { s.live.Foreign = "Kustomization flux-system/apps" }, FindingForeign, "apply leaves it alone (conflictPolicy Stuck"},
		"a tool, forced":        {func(s *verifyScene) { s.live.Foreign, s.entry.Conflict = "kapp app 1", lynq.ConflictForce }, FindingForeign, "apply takes it back"},
		"a tool, and replaced":  {func(s *verifyScene) { s.live.Foreign, s.live.UID = "kapp app 1", "u2" }, FindingForeign, "kapp app 1"},
		"a tool, and unmanaged": {func(s *verifyScene) { s.live.Foreign, s.live.Unmanaged = "kapp app 1", true }, "", ""},

		"an orphan": {func(s *verifyScene) { s.bare(); s.live.Orphaned = true }, FindingOrphaned, "marked as an orphan"},
		"an orphan, once": {func(s *verifyScene) {
			s.retained()
			s.entry.Creation, s.live.CreatedOnce, s.live.Orphaned = lynq.CreateOnce, true, true
		}, FindingOrphaned, "takes it back"},
		"going": {func(s *verifyScene) { s.live.Deleting, s.live.Ending = true, "is being deleted; x holds it" }, FindingLeaving, "it is being deleted; x holds it"},

		"never made":      {func(s *verifyScene) { s.entry.UID, s.entry.Digest, s.live = "", "", nil }, FindingUnconfirmed, "apply completes that"},
		"made, not seen":  {func(s *verifyScene) { s.entry.UID, s.entry.Digest = "", "" }, FindingUnconfirmed, "apply completes that"},
		"there before":    {func(s *verifyScene) { s.bare(); s.entry.UID, s.entry.Digest = "", "" }, FindingUnconfirmed, ""},
		"change not seen": {func(s *verifyScene) { s.entry.Digest = "" }, FindingUnconfirmed, ""},
		"once, not seen": {func(s *verifyScene) {
			s.entry.Creation, s.live.CreatedOnce, s.entry.Digest = lynq.CreateOnce, true, ""
		}, FindingUnconfirmed, ""},
		"recorded, no uid": {func(s *verifyScene) { s.entry.UID = "" }, FindingUnconfirmed, ""},

		"no hub label":      {func(s *verifyScene) { s.live.Hub, s.live.Fields = "", "f2" }, FindingUntracked, "it lacks label lynq.sh/hub"},
		"no part-of":        {func(s *verifyScene) { s.live.PartOf = "" }, FindingUntracked, "it lacks label applyset.kubernetes.io/part-of"},
		"no owner":          {func(s *verifyScene) { s.live.Owners = nil }, FindingUntracked, "it lacks the owner reference"},
		"nothing":           {(*verifyScene).bare, FindingUntracked, "it lacks label lynq.sh/hub, label applyset.kubernetes.io/part-of, the owner reference"},
		"labels too":        {func(s *verifyScene) { s.live.Node, s.live.NodeNamespace = "acme-web", "ns" }, FindingUntracked, "it has its node's labels, which its policies do not want"},
		"half a label too":  {func(s *verifyScene) { s.live.NodeNamespace = "ns" }, FindingUntracked, "it has its node's labels, which"},
		"half of its label": {func(s *verifyScene) { s.retained(); s.live.NodeNamespace = "" }, FindingForeign, "node /acme-web"},
		"no labels":         {func(s *verifyScene) { s.retained(); s.live.Node, s.live.NodeNamespace = "", "" }, FindingUntracked, "it lacks its node's labels"},
		"owner too":         {func(s *verifyScene) { s.retained(); s.live.Owners = []types.UID{"inv"} }, FindingUntracked, "it has the owner reference, which its policies do not want"},
		"the other way":     {func(s *verifyScene) { s.entry.Deletion = lynq.DeleteRetain }, FindingUntracked, "it lacks its node's labels; it has the owner reference, which"},
		"once, no owner": {func(s *verifyScene) {
			s.entry.Creation, s.live.CreatedOnce, s.live.Owners = lynq.CreateOnce, true, nil
		}, FindingUntracked, "it lacks the owner reference"},
		"elsewhere, owned": {func(s *verifyScene) {
			s.live.Namespace, s.entry.Namespace = "other", "other"
		}, FindingUntracked, "it lacks its node's labels; it has the owner reference, which"},

		"drifted":           {func(s *verifyScene) { s.live.Fields = "f2" }, FindingDrifted, "fields that lynqctl manages were changed"},
		"managed no more":   {func(s *verifyScene) { s.live.Fields = "" }, FindingDrifted, ""},
		"written by update": {func(s *verifyScene) { s.live.Updated = true }, FindingDrifted, ""},
		"merged, changed, and not known what": {func(s *verifyScene) {
			s.entry.Patch, s.entry.Fields, s.live.ResourceVersion = lynq.PatchMerge, "", "8"
		}, "", ""},
		"merged, fields of others changed": {func(s *verifyScene) { s.managed(lynq.PatchMerge, `{"f:data":{"f:plan":{}}}`) }, "", ""},
		"merged, a default changed": {func(s *verifyScene) {
			s.managed(lynq.PatchMerge, `{"f:data":{"f:plan":{},"f:default":{}}}`)
			s.live.Updates[0].Fields = metav1.NewFieldsV1(`{"f:data":{"f:plan":{}}}`)
		}, "", ""},
		"merged, ours changed": {func(s *verifyScene) {
			s.managed(lynq.PatchMerge, `{"f:data":{"f:plan":{}}}`)
			s.live.Updates = nil
		}, FindingDrifted, "fields that lynqctl manages were changed"},
		"replaced, fields of others changed": {func(s *verifyScene) { s.managed(lynq.PatchReplace, `{"f:data":{"f:plan":{}}}`) }, "", ""},
		"replaced, ours changed": {func(s *verifyScene) {
			s.managed(lynq.PatchReplace, `{"f:data":{"f:plan":{}}}`)
			s.live.Updates[0].At = "2026-01-01T00:00:00Z"
		}, FindingDrifted, "fields that lynqctl manages were changed"},
		"applied, another wrote and no field of ours is gone": {func(s *verifyScene) {
			s.live.Last, s.live.ResourceVersion = true, "8"
		}, "", ""},
		"taken by an applier": {func(s *verifyScene) {
			s.live.Fields, s.live.Takers = "fewer", []string{"gitops", "argocd", "gitops"}
		}, FindingConflict, `and "argocd" and "gitops" applied fields since`},
		"taken by an applier, and Force": {func(s *verifyScene) {
			s.live.Fields, s.live.Takers, s.entry.Conflict = "fewer", []string{"gitops"}, lynq.ConflictForce
		}, FindingDrifted, "apply puts that right"},
		"an applier took nothing": {func(s *verifyScene) { s.live.Takers = []string{"gitops"} }, "", ""},
		"merged, unchanged":       {func(s *verifyScene) { s.entry.Patch = lynq.PatchMerge }, "", ""},
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
			if f.NodeKey != (NodeKey{"ns", "acme-web"}) || f.Hub != "crm" || f.Form != "web" || f.Object != s.entry.Ref || f.ID != "settings" {
				t.Errorf("it is about %+v", f)
			}
			if text := f.What + " " + f.Fix; !strings.Contains(text, tt.says) || f.What == "" || f.Fix == "" {
				t.Errorf("it says %q, want %q", text, tt.says)
			}
		})
	}
}

// TestVerifyDeletedRecord: of a node that a person deleted, only that is told.
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
		s := newVerifyScene()
		s.inv.Deleting, s.inv.Finalizer, s.inv.Others, s.live = true, tt.finalizer, tt.others, nil
		found := s.verify()
		want := lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "lynqnode-acme-web"}
		if len(found) != 1 || found[0].Type != FindingLeaving || found[0].Object != want || found[0].What+": "+found[0].Fix != tt.says {
			t.Errorf("held %s: found %+v, want %s", name, found, tt.says)
		}
	}
}

// TestVerifyUnrecorded: what has tracking and is named by no record.
func TestVerifyUnrecorded(t *testing.T) {
	extra := func(change func(*Live)) *Live {
		l := *newVerifyScene().live
		l.Ref, l.UID, l.ResourceID = lynq.Ref{Kind: "Service", Namespace: "ns", Name: "acme"}, "u5", "svc"
		change(&l)
		return &l
	}
	labelled := func(node string) func(*Live) {
		return func(l *Live) { l.Owners, l.PartOf, l.Node, l.NodeNamespace = nil, "", node, "ns" }
	}
	lost := func(l *Live) {
		labelled("lost-web")(l)
		l.PartOf = inventory.ID("ns", "lynqnode-lost-web")
	}
	const ours, theirs = "ns/acme-web crm/web", "ns/lost-web crm/"
	for name, tt := range map[string]struct {
		live *Live
		want string // node hub/form, "" for no finding
	}{
		"owned":                      {extra(func(*Live) {}), ours},
		"owned only":                 {extra(func(l *Live) { l.PartOf, l.Hub = "", "" }), ours},
		"part-of only":               {extra(func(l *Live) { l.Owners = nil }), ours},
		"labelled only":              {extra(labelled("acme-web")), ours},
		"of another hub":             {extra(func(l *Live) { labelled("acme-web")(l); l.Hub = "erp" }), ""},
		"unmanaged":                  {extra(func(l *Live) { l.Unmanaged = true }), ours},
		"node has no record":         {extra(lost), theirs},
		"rendered, not applied":      {extra(labelled("lost-web")), ""},
		"of a broken record":         {extra(func(l *Live) { lost(l); l.Node = "torn-web"; l.PartOf = inventory.ID("ns", "lynqnode-torn-web") }), ""},
		"owner gone":                 {extra(func(l *Live) { l.Owners, l.PartOf = nil, "applyset-x-v1" }), "ns/ crm/"},
		"owner's record broken":      {extra(func(l *Live) { l.Owners, l.PartOf = []types.UID{"inv9"}, inventory.ID("ns", "lynqnode-torn-web") }), ""},
		"another tool's set":         {extra(func(l *Live) { l.Owners, l.PartOf, l.Fields = nil, "applyset-x-v1", "" }), ""},
		"an orphan":                  {extra(func(l *Live) { l.Orphaned = true }), ""},
		"going":                      {extra(func(l *Live) { l.Deleting = true }), ""},
		"a controller's":             {extra(func(l *Live) { l.Controller = "Service/acme" }), ""},
		"another tool's":             {extra(func(l *Live) { l.Foreign = "Application shop" }), ""},
		"a copy":                     {extra(func(l *Live) { l.ResourceID = "" }), ""},
		"recorded":                   {newVerifyScene().live, ""},
		"recorded, of another group": {extra(func(l *Live) { l.Group, l.UID = "legacy.example.com", "u1" }), ""},
		"recorded by another node":   {extra(func(l *Live) { l.Name = "bolt" }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newVerifyScene()
			found := Verify(&VerifyInput{
				Inventories: []*inventory.Inventory{s.inv},
				Others: []*inventory.Inventory{{Node: "bolt-web", Namespace: "ns", Hub: "crm", UID: "inv2", Entries: []inventory.Entry{
					{Ref: lynq.Ref{Kind: "Service", Namespace: "ns", Name: "bolt"}},
				}}},
				Broken:  map[NodeKey]bool{{"ns", "torn-web"}: true},
				Live:    map[lynq.Ref]*Live{s.live.Ref: s.live},
				Tracked: []*Live{tt.live},
			})
			got := ""
			for _, f := range found {
				got += fmt.Sprintf("%s %s/%s", f.NodeKey, f.Hub, f.Form)
				if f.Type != FindingUnrecorded || f.Object != tt.live.Ref || f.ID != "svc" || f.What == "" || f.Fix == "" {
					t.Errorf("found %+v", f)
				}
			}
			if got != tt.want {
				t.Errorf("found it at %q, want %q", got, tt.want)
			}
		})
	}
}

// TestVerifySorted: findings come in one order, whatever the order of what is
// read.
func TestVerifySorted(t *testing.T) {
	record := func(name string) inventory.Entry {
		return inventory.Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: name}, UID: "u", Digest: "d"}
	}
	a := &inventory.Inventory{Node: "a-web", Namespace: "ns", Hub: "crm", UID: "a", Entries: []inventory.Entry{record("2"), record("1")}}
	b := &inventory.Inventory{Node: "b-web", Namespace: "ns", Hub: "crm", UID: "b", Entries: []inventory.Entry{record("3")}}
	tracked := []*Live{
		{Ref: lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "5"}, UID: "u5", ResourceID: "x", Owners: []types.UID{"a"}},
		{Ref: lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "4"}, UID: "u4", ResourceID: "x", Owners: []types.UID{"a"}},
	}
	want := []string{"ConfigMap/ns/1", "ConfigMap/ns/2", "Secret/ns/4", "Secret/ns/5", "ConfigMap/ns/3"}
	for _, in := range []VerifyInput{
		{Inventories: []*inventory.Inventory{a, b}, Tracked: tracked},
		{Inventories: []*inventory.Inventory{b, a}, Tracked: []*Live{tracked[1], tracked[0]}},
	} {
		var got []string
		for _, f := range Verify(&in) {
			got = append(got, f.Object.Full())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}
