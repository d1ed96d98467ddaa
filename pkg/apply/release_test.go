package apply

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/inmemory"
	"github.com/lynqctl/lynqctl/test/sites"
)

// TestFailedNodeGivesNothingAway checks that no other node gets the objects of a node that
// fails to render, because its row may still need them.
func TestFailedNodeGivesNothingAway(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("a", configMap("shared", "1")))
	a := &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "a", Namespace: "ns", Name: "a"}, Failed: errors.New("it failed to render")}
	p, err := s.plan(t.Context(), a, node("b", configMap("shared", "2")))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Nodes[1].Steps[0]; got.Action != plan.ActionBlock || got.Reason != plan.ReasonForeign {
		t.Errorf("node b is to %s it (%s), want %s (%s)", got.Action, got.Reason, plan.ActionBlock, plan.ReasonForeign)
	}
}

// takenOver returns ways in which others take an object over and leave our tracking on it.
func takenOver() map[string]func(*metav1.PartialObjectMetadata) {
	return map[string]func(*metav1.PartialObjectMetadata){
		"a Kustomization": func(m *metav1.PartialObjectMetadata) {
			m.Labels["kustomize.toolkit.fluxcd.io/name"] = "apps"
		},
		"a controller": func(m *metav1.PartialObjectMetadata) {
			yes := true
			m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "w", UID: "w1", Controller: &yes})
		},
	}
}

// takeOver changes an object as another client.
func (s *stage) takeOver(ref lynq.Ref, change func(*metav1.PartialObjectMetadata)) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	o := s.Objects[ref].DeepCopy()
	m := inmemory.MetadataOf(o)
	change(m)
	o.SetLabels(m.Labels)
	o.SetAnnotations(m.Annotations)
	o.SetOwnerReferences(m.OwnerReferences)
	s.put(ref, o)
}

// TestTakenOverIsLetGo checks an object that another client took over. It isn't deleted
// with its node or with the inventory, because no reference to the inventory remains.
func TestTakenOverIsLetGo(t *testing.T) {
	for who, change := range takenOver() {
		for when, early := range map[string]bool{"before the run": true, "before the delete": false} {
			t.Run(who+" "+when, func(t *testing.T) {
				s := newStage()
				mustApply(t, s, node("a", configMap("shared", "1")), node("b"))
				owner := types.UID(s.notes.saved[lynq.NodeKey{Namespace: "ns", Name: "a"}].UID)
				if early {
					s.takeOver(shared, change)
				}
				p, err := s.plan(t.Context(), node("b"))
				if err != nil {
					t.Fatal(err)
				}
				if !early {
					s.takeOver(shared, change)
				}
				if _, err := s.run(bounded(t), p); err != nil {
					t.Fatal(err)
				}
				there := s.Objects[shared]
				if there == nil {
					t.Fatal("it was deleted")
				}
				for _, r := range there.GetOwnerReferences() {
					if r.UID == owner {
						t.Error("it still belongs to the inventory, with which it is collected")
					}
				}
				if got := there.GetLabels()[wellknown.LabelPartOf]; got != "" {
					t.Errorf("it still is part of %s", got)
				}
				if _, recorded := s.notes.names()[shared]; recorded {
					t.Error("it is still recorded")
				}
			})
		}
	}
}

// TestUnmanagedBeforeDelete checks a user who marks an object as unmanaged after the plan.
func TestUnmanagedBeforeDelete(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("a", configMap("shared", "1")), node("b"))
	p, err := s.plan(t.Context(), node("b"))
	if err != nil {
		t.Fatal(err)
	}
	s.takeOver(shared, func(m *metav1.PartialObjectMetadata) {
		m.Annotations[wellknown.AnnotationMode] = wellknown.ModeUnmanaged
	})
	if _, err := s.run(bounded(t), p); err != nil {
		t.Fatal(err)
	}
	if s.Objects[shared] == nil || s.notes.names()[shared] != "a" {
		t.Error("it was deleted, or is recorded no more, so that it goes with its inventory")
	}
}

// TestHalfAdopted checks an object that got our tracking before the server refused the
// rest. The inventory lists it, because the garbage collector would delete it by its owner
// reference.
func TestHalfAdopted(t *testing.T) {
	s := newStage()
	s.make(shared, map[string]any{"labels": map[string]any{"of": "somebody"}})
	o := configMap("shared", "1")
	o.Policy.Patch = lynq.PatchMerge
	writes := 0
	s.before = func(_ string, ref lynq.Ref) error {
		if writes++; writes == 1 {
			return nil
		}
		return apierrors.NewInvalid(schema.GroupKind{Kind: ref.Kind}, ref.Name, nil)
	}
	sum := mustApply(t, s, node("a", o))
	if len(sum.Failed) != 1 {
		t.Fatalf("failed: %+v, want node a", sum.Failed)
	}
	l := tracking.LiveOf(shared, inmemory.MetadataOf(s.Objects[shared]))
	if l.PartOf != inventory.ID("ns", inventory.Name("a")) {
		t.Fatal("the object bears no tracking: the test shows nothing")
	}
	if s.notes.names()[shared] != "a" {
		t.Error("the object bears the tracking of node a, which does not record it")
	}
}

// TestTerminatingWithoutLabel checks an object without an owner that is being deleted.
// lynqctl creates it again afterwards, and doesn't write to it before.
func TestTerminatingWithoutLabel(t *testing.T) {
	s := newStage()
	dying := s.make(shared, map[string]any{"finalizers": []any{"example.com/f"}, "deletionTimestamp": "2026-01-01T00:00:00Z"})
	s.before = func(_ string, ref lynq.Ref) error {
		if ref == shared {
			t.Error("it was written to while it was being deleted")
		}
		return nil
	}
	o := configMap("shared", "1")
	o.Policy.Timeout = time.Second
	sum := mustApply(t, s, node("a", o))
	if len(sum.Failed) != 1 || sum.Failed[0].Outcome != report.OutcomeNotReady {
		t.Errorf("failed: %+v, want node a, not ready", sum.Failed)
	}
	if s.Objects[shared].GetUID() != dying.GetUID() {
		t.Error("the object is another one")
	}
}

// TestChangedHandsBeforeWrite checks objects that changed between the plan and their turn
// in a rollout.
func TestChangedHandsBeforeWrite(t *testing.T) {
	ways := takenOver()
	ways["hands off"] = func(m *metav1.PartialObjectMetadata) {
		m.Annotations[wellknown.AnnotationMode] = wellknown.ModeUnmanaged
	}
	ways["another node"] = func(m *metav1.PartialObjectMetadata) {
		m.Labels[wellknown.LabelPartOf], m.OwnerReferences = "applyset-other-v1", nil
	}
	for _, patch := range []lynq.PatchStrategy{lynq.PatchApply, lynq.PatchMerge, lynq.PatchReplace} {
		for who, change := range ways {
			t.Run(string(patch)+": "+who, func(t *testing.T) {
				s := newStage()
				of := func(value string) *plan.Node {
					o := configMap("shared", value)
					o.Policy.Patch = patch
					return node("a", o)
				}
				mustApply(t, s, of("1"))
				p, err := s.plan(t.Context(), of("2"))
				if err != nil {
					t.Fatal(err)
				}
				s.takeOver(shared, change)
				version := s.Objects[shared].GetResourceVersion()
				sum, err := s.run(bounded(t), p)
				switch {
				case err != nil:
					t.Error(err)
				case who == "hands off":
					// It must not be deleted with the inventory, so labels track it.
					if len(sum.Failed) != 0 || sum.Actions[plan.ActionTrack] != 1 || len(s.Objects[shared].GetOwnerReferences()) > 0 {
						t.Errorf("%+v, want its tracking changed alone", sum)
					}
				case len(sum.Failed) != 1 || sum.Failed[0].Outcome != report.OutcomeConflicted:
					t.Errorf("failed: %+v, want node a in conflict", sum.Failed)
				}
				if got := s.Objects[shared].GetResourceVersion(); got != version && who != "hands off" {
					t.Error("it was written to")
				}
				if data, _, _ := unstructured.NestedString(s.Objects[shared].Object, "data", "value"); data == "2" {
					t.Error("its content was written")
				}
			})
		}
	}
}

// TestTouchedBeforeWrite checks that an unrelated change doesn't prevent the write of an
// object.
func TestTouchedBeforeWrite(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("a", configMap("shared", "1")))
	p, err := s.plan(t.Context(), node("a", configMap("shared", "2")))
	if err != nil {
		t.Fatal(err)
	}
	s.takeOver(shared, func(m *metav1.PartialObjectMetadata) { m.Annotations["example.com/note"] = "seen" })
	if sum, err := s.run(bounded(t), p); err != nil || len(sum.Failed) > 0 {
		t.Errorf("%v, failed: %+v", err, sum.Failed)
	}
	if got := sites.Field(s.Objects[shared], "data", "value"); got != "2" {
		t.Errorf("value is %v, want 2", got)
	}
}

// TestRetainThatFailed checks a form that begins to retain an object while somebody
// prevents its write. When the row is deleted, lynqctl keeps the object.
func TestRetainThatFailed(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("a", configMap("shared", "1")), node("b"))
	retained := configMap("shared", "1")
	retained.Policy.Deletion = lynq.DeleteRetain
	s.before = func(_ string, ref lynq.Ref) error {
		return apierrors.NewInvalid(schema.GroupKind{Kind: ref.Kind}, ref.Name, nil)
	}
	if sum := mustApply(t, s, node("a", retained), node("b")); len(sum.Failed) != 1 {
		t.Fatalf("failed: %+v, want node a", sum.Failed)
	}
	s.before = nil
	mustApply(t, s, node("b"))
	if o := s.Objects[shared]; o == nil || o.GetLabels()[wellknown.LabelOrphaned] != "true" || len(o.GetOwnerReferences()) > 0 {
		t.Errorf("it is no orphan: %v", o)
	}
}
