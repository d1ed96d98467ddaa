package apply

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// widget is a custom resource of a node.
func widget(name string) lynq.Object {
	p := lynq.DefaultPolicy()
	p.WaitForReady = false
	return lynq.Object{
		Ref: lynq.Ref{Group: "example.com", Kind: "Widget", Namespace: "ns", Name: name}, ID: name, Policy: p,
		Content: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name, "namespace": "ns"}},
	}
}

// definition is the CustomResourceDefinition of widgets.
func definition() lynq.Object {
	p := lynq.DefaultPolicy()
	p.WaitForReady = false
	return lynq.Object{
		Ref: lynq.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "widgets.example.com"}, ID: "crd", Policy: p,
		Content: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": "widgets.example.com"},
			"spec":     map[string]any{"group": "example.com", "names": map[string]any{"kind": "Widget", "plural": "widgets"}},
			// As its controller would say.
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}},
		},
	}
}

// TestKindNotServed: objects of a kind that is not served may live on, as long as
// the kind is defined: when no version of it is served, say. Their records stay.
func TestKindNotServed(t *testing.T) {
	for _, defined := range []bool{true, false} {
		s := newStage()
		o := widget("w")
		mustApply(t, s, node("a", o), node("b", configMap("b", "1")))
		if defined {
			crd := definition()
			s.make(crd.Ref, nil).Object["spec"] = crd.Content["spec"]
		}
		delete(s.kinds, "Widget.example.com")
		sum, err := s.applied(bounded(t), node("b", configMap("b", "1")))
		_, recorded := s.notes.names()[o.Ref]
		switch {
		case defined && (err == nil || !strings.Contains(err.Error(), "widgets.example.com")):
			t.Errorf("a kind that is defined and not served: %v, want an error that names its definition", err)
		case defined && !recorded:
			t.Error("the object is there, and recorded no more")
		case !defined && (err != nil || len(sum.Failed) > 0 || recorded):
			t.Errorf("a kind that is gone: %v, %+v, recorded: %t", err, sum, recorded)
		}
	}
}

// TestContainersWithOthers: a container goes when its node does, unless it holds
// what is not the node's.
func TestContainersWithOthers(t *testing.T) {
	inTeam := configMap("in-team", "1")
	inTeam.Namespace, inTeam.Content["metadata"] = "team", map[string]any{"name": "in-team", "namespace": "team"}
	owned := func(apiVersion, kind string) map[string]any {
		return map[string]any{"ownerReferences": []any{map[string]any{"apiVersion": apiVersion, "kind": kind, "name": "o", "uid": "o"}}}
	}
	other := lynq.Ref{Kind: "ConfigMap", Namespace: "team", Name: "other"}
	for name, tt := range map[string]struct {
		objects  []lynq.Object
		prepare  func(*stage)
		survives bool
	}{
		"a namespace": {objects: []lynq.Object{namespace("team"), inTeam}},
		"a namespace with somebody's ConfigMap": {
			objects: []lynq.Object{namespace("team"), inTeam}, survives: true,
			prepare: func(s *stage) { s.make(other, nil) },
		},
		"a namespace with what belongs to an object in it": {
			objects: []lynq.Object{namespace("team"), inTeam},
			prepare: func(s *stage) { s.make(other, owned("example.com/v1", "Widget")) },
		},
		"a namespace with what belongs to a cluster-scoped object": {
			objects: []lynq.Object{namespace("team"), inTeam}, survives: true,
			prepare: func(s *stage) { s.make(other, owned("v1", "Namespace")) },
		},
		"a kind": {objects: []lynq.Object{definition(), widget("w")}},
		"a kind with somebody's object": {
			objects: []lynq.Object{definition(), widget("w")}, survives: true,
			prepare: func(s *stage) { s.make(widget("other").Ref, nil) },
		},
		"a kind that is not served": {
			objects: []lynq.Object{definition()}, survives: true,
			prepare: func(s *stage) { delete(s.kinds, "Widget.example.com") },
		},
	} {
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
			if there := s.objects[tt.objects[0].Ref] != nil; there != (tt.survives || dryRun) {
				t.Errorf("%s (dry run: %t): it is there: %t", name, dryRun, there)
			}
		}
	}
}

// lateKinds serves a kind from the next refresh on.
type lateKinds struct {
	*memory
	late lynq.APIResource
}

func (c *lateKinds) Refresh(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serve(c.late)
	return nil
}

// TestNamespaceWithLateKind: what a kind that came after the run had begun holds
// in a namespace keeps that from being deleted too.
func TestNamespaceWithLateKind(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("a", namespace("team")), node("b"))
	gadget := lynq.APIResource{Group: "example.com", Version: "v1", Kind: "Gadget", Plural: "gadgets", Namespaced: true}
	s.make(lynq.Ref{Group: "example.com", Kind: "Gadget", Namespace: "team", Name: "g"}, nil)
	p, err := s.plan(t.Context(), node("b"))
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Cluster: &lateKinds{s.memory, gadget}, Records: s.notes, Reporter: &events{}, Now: time.Now, Options: s.options}
	if _, err := r.Run(bounded(t), []Plan{*p}); err != nil {
		t.Fatal(err)
	}
	if s.objects[lynq.Ref{Kind: "Namespace", Name: "team"}] == nil {
		t.Error("the namespace was deleted with the gadget in it")
	}
}
