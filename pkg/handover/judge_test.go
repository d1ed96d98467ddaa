package handover

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// live is an object as the operator leaves it, and what was done to it since.
func live(change ...func(*metav1.PartialObjectMetadata)) *metav1.PartialObjectMetadata {
	yes := true
	m := &metav1.PartialObjectMetadata{}
	m.Namespace, m.Name, m.UID, m.ResourceVersion = "shop", "acme", "object-uid", "5"
	m.Labels = map[string]string{"app": "acme"}
	m.Annotations = map[string]string{wellknown.AnnotationDeletionPolicy: "Delete", annotationAppliedHash: "0123", annotationApplyStart: "then", "note": "mine"}
	m.OwnerReferences = []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "somebody", UID: "somebody-uid"},
		{APIVersion: wellknown.APIVersion, Kind: wellknown.KindNode, Name: "acme-web", UID: "node-uid", Controller: &yes, BlockOwnerDeletion: &yes},
	}
	m.ManagedFields = []metav1.ManagedFieldsEntry{entry(operatorManager, "Apply", `{"f:spec":{"f:a":{}}}`)}
	for _, f := range change {
		f(m)
	}
	return m
}

func disowned(m *metav1.PartialObjectMetadata) { m.OwnerReferences = nil }

func labelled(labels ...string) func(*metav1.PartialObjectMetadata) {
	return func(m *metav1.PartialObjectMetadata) {
		for i := 0; i < len(labels); i += 2 {
			m.Labels[labels[i]] = labels[i+1]
		}
	}
}

func entry(manager, operation, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), APIVersion: "v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

func node() *Node {
	return &Node{Namespace: "shop", Name: "acme-web", UID: "node-uid", ResourceVersion: "7", Held: true, Hub: "crm", Form: "web", Row: "acme"}
}

func found(m *metav1.PartialObjectMetadata) Found {
	return Found{
		Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "acme"}, APIVersion: "v1", ID: "settings", Meta: m,
		Lifecycle: lynq.Lifecycle{Creation: lynq.CreateWhenNeeded, Deletion: lynq.DeleteDelete, Conflict: lynq.ConflictStuck, Patch: lynq.PatchApply},
	}
}

func partOf(node string) string { return inventory.ID("shop", inventory.Name(node)) }

func TestJudge(t *testing.T) {
	yes := true
	now := metav1.Now()
	controller := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", UID: "rs-uid", Controller: &yes}
	own := []string{wellknown.LabelNode, "acme-web", wellknown.LabelNodeNamespace, "shop"}
	for name, tt := range map[string]struct {
		found  Found
		action plan.Action
		why    string
		reason plan.Reason
	}{
		"owned by its LynqNode":   {found(live()), plan.ActionTrack, "", ReasonHandover},
		"labelled as its own":     {found(live(disowned, labelled(own...))), plan.ActionTrack, "", ReasonHandover},
		"absent":                  {found(nil), plan.ActionSkip, "there is none", ReasonAbsent},
		"unreadable":              {Found{Err: errors.New("forbidden")}, plan.ActionBlock, "forbidden", ReasonUnreadable},
		"nobody's":                {found(live(disowned)), plan.ActionSkip, "nothing on it says", plan.ReasonForeign},
		"another node's":          {found(live(disowned, labelled(wellknown.LabelNode, "b", wellknown.LabelNodeNamespace, "shop"))), plan.ActionSkip, "it belongs to node shop/b", plan.ReasonForeign},
		"of the same name abroad": {found(live(disowned, labelled(wellknown.LabelNode, "acme-web", wellknown.LabelNodeNamespace, "b"))), plan.ActionSkip, "it belongs to node b/acme-web", plan.ReasonForeign},
		"of a former LynqNode": {found(live(func(m *metav1.PartialObjectMetadata) { m.OwnerReferences[1].UID = "former" })), plan.ActionSkip,
			"it belongs to controller LynqNode/acme-web", plan.ReasonForeign},
		"a controller's":     {found(live(func(m *metav1.PartialObjectMetadata) { m.OwnerReferences = []metav1.OwnerReference{controller} })), plan.ActionSkip, "controller ReplicaSet/rs", plan.ReasonForeign},
		"an ApplySet's":      {found(live(disowned, labelled(wellknown.LabelPartOf, "applyset-x-v1"))), plan.ActionSkip, "ApplySet applyset-x-v1", plan.ReasonForeign},
		"of two nodes":       {found(live(labelled(wellknown.LabelNode, "b", wellknown.LabelNodeNamespace, "shop"))), plan.ActionBlock, "belongs to node shop/b too", plan.ReasonForeign},
		"and an ApplySet's":  {found(live(labelled(wellknown.LabelPartOf, "applyset-x-v1"))), plan.ActionBlock, "belongs to ApplySet applyset-x-v1 too", plan.ReasonForeign},
		"and a controller's": {found(live(labelled(own...), func(m *metav1.PartialObjectMetadata) { m.OwnerReferences = []metav1.OwnerReference{controller} })), plan.ActionBlock, "belongs to controller ReplicaSet/rs too", plan.ReasonForeign},
		"an orphan":          {found(live(disowned, labelled(wellknown.LabelOrphaned, "true"))), plan.ActionSkip, "orphans adopt", plan.ReasonOrphan},
		"on its way out":     {found(live(func(m *metav1.PartialObjectMetadata) { m.DeletionTimestamp = &now })), plan.ActionSkip, "being deleted", plan.ReasonDeleting},
	} {
		t.Run(name, func(t *testing.T) {
			o := judge(node(), tt.found, "").Step
			if o.Action != tt.action || !strings.Contains(o.Message, tt.why) || o.Reason != tt.reason {
				t.Errorf("%v %q %s, want %v %q %s", o.Action, o.Message, o.Reason, tt.action, tt.why, tt.reason)
			}
		})
	}
}

// applied carries a patch out, as far as this package writes any.
func applied(t *testing.T, m *metav1.PartialObjectMetadata, patch []byte) *metav1.PartialObjectMetadata {
	t.Helper()
	var ops []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if err := json.Unmarshal(patch, &ops); err != nil {
		t.Fatal(err)
	}
	after := m.DeepCopy()
	for _, op := range ops {
		into := map[string]any{
			"/metadata/labels": &after.Labels, "/metadata/annotations": &after.Annotations, "/metadata/finalizers": &after.Finalizers,
			"/metadata/ownerReferences": &after.OwnerReferences, "/metadata/managedFields": &after.ManagedFields,
		}[op.Path]
		switch {
		case op.Path == "/metadata/uid" && op.Op == "test" && string(op.Value) == `"`+string(m.UID)+`"`:
		case op.Path == "/metadata/resourceVersion" && op.Op == "replace" && string(op.Value) == `"`+m.ResourceVersion+`"`:
		case into == nil || op.Op == "remove":
			t.Fatalf("an operation that must not be: %+v in\n%s", op, patch)
		default:
			after.Labels, after.Annotations = reset(op.Path, "/metadata/labels", after.Labels), reset(op.Path, "/metadata/annotations", after.Annotations)
			if err := json.Unmarshal(op.Value, into); err != nil {
				t.Fatal(err)
			}
		}
	}
	return after
}

// reset empties a map that is going to be replaced.
func reset(path, is string, m map[string]string) map[string]string {
	if path == is {
		return nil
	}
	return m
}

// TestChange: what the patch makes of an object is what a takeover leaves, for each
// way of tracking; and then there is nothing more to change.
func TestChange(t *testing.T) {
	yes := true
	ours := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "lynqnode-acme-web", UID: "record", Controller: &yes, BlockOwnerDeletion: &yes}
	somebody := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "somebody", UID: "somebody-uid"}
	for name, tt := range map[string]struct {
		found  func(*Found)
		before func(*metav1.PartialObjectMetadata)
		labels map[string]string
		owners []metav1.OwnerReference
		notes  map[string]string
	}{
		"owned": {nil, nil, map[string]string{"app": "acme"}, []metav1.OwnerReference{somebody, ours}, nil},
		"owned, with labels too": {nil, labelled(wellknown.LabelNode, "acme-web", wellknown.LabelNodeNamespace, "shop"),
			map[string]string{"app": "acme"}, []metav1.OwnerReference{somebody, ours}, nil},
		"retained": {func(f *Found) { f.Deletion = lynq.DeleteRetain }, nil,
			map[string]string{"app": "acme", wellknown.LabelNode: "acme-web", wellknown.LabelNodeNamespace: "shop"}, []metav1.OwnerReference{somebody},
			map[string]string{wellknown.AnnotationDeletionPolicy: "Retain"}},
		"elsewhere": {func(f *Found) { f.Namespace = "far" }, func(m *metav1.PartialObjectMetadata) { m.Namespace, m.OwnerReferences = "far", nil },
			map[string]string{"app": "acme", wellknown.LabelNode: "acme-web", wellknown.LabelNodeNamespace: "shop"}, nil, nil},
		"without a namespace": {func(f *Found) { f.Namespace = "" },
			func(m *metav1.PartialObjectMetadata) { m.Namespace, m.OwnerReferences = "", m.OwnerReferences[1:] },
			map[string]string{"app": "acme", wellknown.LabelNode: "acme-web", wellknown.LabelNodeNamespace: "shop"}, nil, nil},
		"made once": {func(f *Found) { f.Creation = lynq.CreateOnce }, nil, map[string]string{"app": "acme"}, []metav1.OwnerReference{somebody, ours},
			map[string]string{wellknown.AnnotationCreatedOnce: "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := live()
			if tt.before != nil {
				tt.before(m)
			}
			f := found(m)
			if tt.found != nil {
				tt.found(&f)
			}
			c, err := changeOf(node(), &f, "record")
			if err != nil || c == nil {
				t.Fatalf("%v %v", c, err)
			}
			patch, err := c.patch()
			if err != nil {
				t.Fatal(err)
			}
			after := applied(t, m, patch)
			tt.labels[wellknown.LabelHub], tt.labels[wellknown.LabelPartOf] = "crm", partOf("acme-web")
			notes := map[string]string{"note": "mine", wellknown.AnnotationDeletionPolicy: "Delete", wellknown.AnnotationResourceID: "settings"}
			for k, v := range tt.notes {
				notes[k] = v
			}
			for _, diff := range []string{cmp.Diff(tt.labels, after.Labels), cmp.Diff(notes, after.Annotations), cmp.Diff(tt.owners, after.OwnerReferences, cmpopts.EquateEmpty())} {
				if diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
			f.Meta = after
			if c, err := changeOf(node(), &f, "record"); c != nil || err != nil {
				t.Errorf("there is more to change: %+v %v", c, err)
			}
			if o := judge(node(), f, "record").Step; o.Action != plan.ActionKeep {
				t.Errorf("then it is %v: %s", o.Action, o.Message)
			}
			if f.owned(node()) {
				if o := judge(node(), f, types.UID("another record")).Step; o.Action != plan.ActionTrack {
					t.Errorf("of a record that was made anew it is %v: %s", o.Action, o.Message)
				}
			}
		})
	}
}

func TestWithoutFinalizers(t *testing.T) {
	for want, finalizers := range map[string][]string{
		`[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"replace","path":"/metadata/resourceVersion","value":"7"},{"op":"add","path":"/metadata/finalizers","value":[]}]`: {"ours"},
		`[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"replace","path":"/metadata/resourceVersion","value":"7"},{"op":"add","path":"/metadata/finalizers","value":["a","b"]}]`: {
			"a", "ours", "b"},
		"": {"a"},
	} {
		t.Run(want, func(t *testing.T) {
			got, err := withoutFinalizers("u", "7", finalizers, "ours")
			if err != nil || string(got) != want {
				t.Errorf("%v: %s %v, want %s", finalizers, got, err, want)
			}
		})
	}
}
