package apply

import (
	"context"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// widget returns a custom resource of a node.
func widget(name string) formObject {
	p := lynq.DefaultPolicy()
	p.Unwaited = true
	return formObject{
		Object:  lynq.Object{Ref: lynq.Ref{Group: "example.com", Kind: "Widget", Namespace: "ns", Name: name}, ID: name, Policy: &p},
		Content: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name, "namespace": "ns"}},
	}
}

// definition returns the CustomResourceDefinition of widgets.
func definition() formObject {
	p := lynq.DefaultPolicy()
	p.Unwaited = true
	return formObject{
		Object: lynq.Object{Ref: lynq.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "widgets.example.com"}, ID: "crd", Policy: &p},
		Content: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": "widgets.example.com"},
			"spec":     map[string]any{"group": "example.com", "names": map[string]any{"kind": "Widget", "plural": "widgets"}},
			// The kind's controller would set this status.
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}},
		},
	}
}

// TestKindNotServed checks objects of a kind that the server doesn't serve. They may still
// exist: a CustomResourceDefinition without its finalizer leaves them in etcd. So their
// entries remain, the node that leaves fails, and other nodes continue.
func TestKindNotServed(t *testing.T) {
	gadgets := definition()
	gadgets.Name = "gadgets.example.com"
	gadgets.Content["metadata"] = map[string]any{"name": gadgets.Name}
	gadgets.Content["spec"] = map[string]any{"group": "example.com", "names": map[string]any{"kind": "Gadget", "plural": "gadgets"}}
	for name, tt := range map[string]struct {
		objects []formObject // beside the widget
		prepare func(*stage)
		unknown string // why lynqctl doesn't know whether the widget exists
	}{
		"its group is gone": {
			unknown: "the server no longer serves kind Widget.example.com",
		},
		"its definition serves no version": {
			prepare: func(s *stage) { s.make(definition().Ref, nil).Object["spec"] = definition().Content["spec"] },
			unknown: "CustomResourceDefinition widgets.example.com defines kind Widget.example.com, but the server doesn't serve it",
		},
		"other kinds of the group are defined": {
			prepare: func(s *stage) {
				s.unconfirm()
				s.make(gadgets.Ref, nil).Object["spec"] = gadgets.Content["spec"]
			},
			unknown: "the server no longer serves kind Widget.example.com",
		},
		"its group is gone, and no object was seen written": {
			prepare: (*stage).unconfirm,
			unknown: "the server no longer serves kind Widget.example.com",
		},
		"its group is gone, and the node has the definition": {
			objects: []formObject{gadgets},
			prepare: func(s *stage) {
				s.unconfirm()
				delete(s.Objects, gadgets.Ref)
			},
			unknown: "the server no longer serves kind Widget.example.com",
		},
		"its group is gone, and was an extension's": {
			prepare: func(s *stage) { s.edit(func(r *inventory.Entry) { r.Generation = 0 }) },
			unknown: "the server no longer serves kind Widget.example.com",
		},
		"an extension serves other kinds of the group": {
			prepare: func(s *stage) {
				s.Serve(lynq.APIResource{Group: "example.com", Version: "v1", Kind: "Gizmo", Plural: "gizmos", Namespaced: true})
			},
			unknown: "the server no longer serves kind Widget.example.com",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for what, goes := range map[string]bool{"the row goes": true, "the form drops it": false} {
				s := newStage()
				o := widget("w")
				all := append([]formObject{o, configMap("a", "1")}, tt.objects...)
				mustApply(t, s, node("a", all...), node("b", configMap("b", "1")))
				if tt.prepare != nil {
					tt.prepare(s)
				}
				delete(s.Kinds, "Widget.example.com")
				nodes := []*plan.Node{node("b", configMap("b", "2"))}
				if !goes {
					nodes = append(nodes, node("a", append([]formObject{configMap("a", "2")}, tt.objects...)...))
				}
				sum, err := s.applied(bounded(t), nodes...)
				if err != nil {
					t.Fatal(err)
				}
				_, recorded := s.notes.names()[o.Ref]
				if !recorded {
					t.Errorf("%s, %s: it isn't recorded", name, what)
				}
				failed := len(sum.Failed) == 1 && strings.Contains(sum.Failed[0].Problems[0].Problem(), tt.unknown)
				if goes != failed || !goes && len(sum.Failed) > 0 {
					t.Errorf("%s, %s: %+v, want a failure: %t", name, what, sum.Failed, goes)
				}
				if s.Objects[configMap("a", "1").Ref] == nil {
					t.Errorf("%s, %s: the node's other object is gone", name, what)
				}
				if got := s.data("b"); got != "2" {
					t.Errorf("%s, %s: the other node has %q", name, what, got)
				}
				if got := s.data("a"); !goes && got != "2" {
					t.Errorf("%s, %s: the node itself has %q", name, what, got)
				}
			}
		})
	}
}

// edit changes all entries of widgets.
func (s *stage) edit(change func(*inventory.Entry)) {
	for _, inv := range s.notes.saved {
		for i := range inv.Entries {
			if r := &inv.Entries[i]; r.Kind == "Widget" {
				change(r)
			}
		}
	}
}

// unconfirm removes the confirmation of the widgets' writes.
func (s *stage) unconfirm() { s.edit(func(r *inventory.Entry) { r.UID, r.Digest = "", "" }) }

// data returns the data of the ConfigMap with this name.
func (s *stage) data(name string) string {
	o := s.Objects[configMap(name, "").Ref]
	if o == nil {
		return ""
	}
	value, _, _ := unstructured.NestedString(o.Object, "data", "value")
	return value
}

// TestContainersWithOthers checks that lynqctl deletes a container with its node, unless it
// has objects that the node doesn't own.
func TestContainersWithOthers(t *testing.T) {
	inTeam := configMap("in-team", "1")
	inTeam.Namespace, inTeam.Content["metadata"] = "team", map[string]any{"name": "in-team", "namespace": "team"}
	owned := func(apiVersion, kind string) map[string]any {
		return map[string]any{"ownerReferences": []any{map[string]any{"apiVersion": apiVersion, "kind": kind, "name": "o", "uid": "o"}}}
	}
	other := lynq.Ref{Kind: "ConfigMap", Namespace: "team", Name: "other"}
	for name, tt := range map[string]struct {
		objects  []formObject
		prepare  func(*stage)
		survives bool
	}{
		"a namespace": {objects: []formObject{namespace("team"), inTeam}},
		"a namespace with somebody's ConfigMap": {
			objects: []formObject{namespace("team"), inTeam}, survives: true,
			prepare: func(s *stage) { s.make(other, nil) },
		},
		"a namespace with what belongs to an object in it": {
			objects: []formObject{namespace("team"), inTeam},
			prepare: func(s *stage) { s.make(other, owned("example.com/v1", "Widget")) },
		},
		"a namespace with what belongs to a cluster-scoped object": {
			objects: []formObject{namespace("team"), inTeam}, survives: true,
			prepare: func(s *stage) { s.make(other, owned("v1", "Namespace")) },
		},
		"a kind": {objects: []formObject{definition(), widget("w")}},
		"a kind with somebody's object": {
			objects: []formObject{definition(), widget("w")}, survives: true,
			prepare: func(s *stage) { s.make(widget("other").Ref, nil) },
		},
		"a kind that is not served": {
			objects: []formObject{definition()}, survives: true,
			prepare: func(s *stage) { delete(s.Kinds, "Widget.example.com") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, dryRun := range []bool{false, true} {
				s := newStage()
				mustApply(t, s, node("a", tt.objects...), node("b"))
				if tt.prepare != nil {
					tt.prepare(s)
				}
				s.options.DryRun = dryRun
				sum := mustApply(t, s, node("b"))
				if failed := len(sum.Failed) > 0; failed != tt.survives {
					t.Errorf("%s (dry run: %t): %+v, want a failure: %t", name, dryRun, sum.Failed, tt.survives)
				}
				if there := s.Objects[tt.objects[0].Ref] != nil; there != (tt.survives || dryRun) {
					t.Errorf("%s (dry run: %t): it exists: %t", name, dryRun, there)
				}
			}
		})
	}
}

// TestContainersThatAreWanted checks that lynqctl keeps a container if another node needs
// an object in it. The object doesn't exist yet when lynqctl checks the container.
func TestContainersThatAreWanted(t *testing.T) {
	inTeam := configMap("in-team", "1")
	inTeam.Namespace, inTeam.Content["metadata"] = "team", map[string]any{"name": "in-team", "namespace": "team"}
	for _, tt := range []struct{ container, object formObject }{{namespace("team"), inTeam}, {definition(), widget("w")}} {
		s := newStage()
		mustApply(t, s, node("a", tt.container), node("b"))
		s.before = func(verb string, ref lynq.Ref) error {
			if verb == "write" && ref == tt.object.Ref {
				return apierrors.NewInvalid(schema.GroupKind{Kind: ref.Kind}, ref.Name, nil)
			}
			return nil
		}
		sum := mustApply(t, s, node("b", tt.object))
		want := tt.container.String() + ": not deleted, because it holds objects that the node doesn't own: " + tt.object.Kind + "/" + tt.object.Name
		if len(sum.Failed) != 2 || !strings.HasPrefix(sum.Failed[0].Problems[0].Problem(), want) {
			t.Errorf("%+v, want %q", sum.Failed, want)
		}
		if s.Objects[tt.container.Ref] == nil {
			t.Errorf("%s was deleted", tt.container.Ref)
		}
	}
}

// lateKinds serves a kind from the next refresh on.
type lateKinds struct {
	*memory
	late lynq.APIResource
}

func (c *lateKinds) Refresh(context.Context) error {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.Serve(c.late)
	return nil
}

// TestNamespaceWithLateKind checks that objects of a kind which appeared during the run
// also keep a namespace.
func TestNamespaceWithLateKind(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("a", namespace("team")), node("b"))
	gadget := lynq.APIResource{Group: "example.com", Version: "v1", Kind: "Gadget", Plural: "gadgets", Namespaced: true}
	s.make(lynq.Ref{Group: "example.com", Kind: "Gadget", Namespace: "team", Name: "g"}, nil)
	p, err := s.plan(t.Context(), node("b"))
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Cluster: &lateKinds{s.memory, gadget}, Inventories: s.notes, Reporter: &events{}, Now: time.Now, Options: s.options}
	if _, err := r.Run(bounded(t), []plan.Plan{*p}); err != nil {
		t.Fatal(err)
	}
	if s.Objects[lynq.Ref{Kind: "Namespace", Name: "team"}] == nil {
		t.Error("the namespace was deleted with the gadget in it")
	}
}
