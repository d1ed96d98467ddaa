package apply

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/inventory"
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

// TestKindNotServed: objects of a kind that is not served may live on. They are
// gone only where its definition is: other kinds of the group are defined, some
// record names a definition of the group, or what was recorded is of a custom
// resource. Else their records stay, and other nodes go on.
func TestKindNotServed(t *testing.T) {
	gadgets := definition()
	gadgets.Name = "gadgets.example.com"
	gadgets.Content["metadata"] = map[string]any{"name": gadgets.Name}
	gadgets.Content["spec"] = map[string]any{"group": "example.com", "names": map[string]any{"kind": "Gadget", "plural": "gadgets"}}
	for name, tt := range map[string]struct {
		objects []lynq.Object // beside the widget
		prepare func(*stage)
		unknown string // why it is not known, "" where it is gone
	}{
		"its group is gone": {},
		"its definition serves no version": {
			prepare: func(s *stage) { s.make(definition().Ref, nil).Object["spec"] = definition().Content["spec"] },
			unknown: "kind Widget.example.com is not served, though CustomResourceDefinition widgets.example.com defines it",
		},
		"other kinds of the group are defined": {
			prepare: func(s *stage) {
				s.unconfirm()
				s.make(gadgets.Ref, nil).Object["spec"] = gadgets.Content["spec"]
			},
		},
		"its group is gone, and no object was seen written": {
			prepare: (*stage).unconfirm,
			unknown: "kind Widget.example.com is not served any more, and nothing proves",
		},
		"its group is gone, and the node has the definition": {
			objects: []lynq.Object{gadgets},
			prepare: func(s *stage) {
				s.unconfirm()
				delete(s.objects, gadgets.Ref)
			},
		},
		"its group is gone, and was an extension's": {
			prepare: func(s *stage) { s.edit(func(r *inventory.Record) { r.Generation = 0 }) },
			unknown: "kind Widget.example.com is not served any more, and nothing proves",
		},
		"an extension serves other kinds of the group": {
			prepare: func(s *stage) {
				s.serve(lynq.APIResource{Group: "example.com", Version: "v1", Kind: "Gizmo", Plural: "gizmos", Namespaced: true})
			},
			unknown: "kind Widget.example.com is not served any more, and nothing proves",
		},
	} {
		for what, goes := range map[string]bool{"the row goes": true, "the form drops it": false} {
			s := newStage()
			o := widget("w")
			all := append([]lynq.Object{o, configMap("a", "1")}, tt.objects...)
			mustApply(t, s, node("a", all...), node("b", configMap("b", "1")))
			if tt.prepare != nil {
				tt.prepare(s)
			}
			delete(s.kinds, "Widget.example.com")
			nodes := []*Node{node("b", configMap("b", "2"))}
			if !goes {
				nodes = append(nodes, node("a", append([]lynq.Object{configMap("a", "2")}, tt.objects...)...))
			}
			sum, err := s.applied(bounded(t), nodes...)
			if err != nil {
				t.Fatal(err)
			}
			_, recorded := s.notes.names()[o.Ref]
			if recorded != (tt.unknown != "") {
				t.Errorf("%s, %s: it is recorded: %t", name, what, recorded)
			}
			failed := len(sum.Failed) == 1 && strings.Contains(sum.Failed[0].Problems[0], tt.unknown)
			if want := goes && tt.unknown != ""; want != failed || !want && len(sum.Failed) > 0 {
				t.Errorf("%s, %s: %+v, want a failure: %t", name, what, sum.Failed, want)
			}
			if there := s.objects[configMap("a", "1").Ref] != nil; there == (goes && tt.unknown == "") {
				t.Errorf("%s, %s: the node's other object is there: %t", name, what, there)
			}
			if got := s.data("b"); got != "2" {
				t.Errorf("%s, %s: the other node has %q", name, what, got)
			}
			if got := s.data("a"); !goes && got != "2" {
				t.Errorf("%s, %s: the node itself has %q", name, what, got)
			}
		}
	}
}

// edit edits all records of widgets.
func (s *stage) edit(change func(*inventory.Record)) {
	for _, inv := range s.notes.saved {
		for i := range inv.Records {
			if r := &inv.Records[i]; r.Kind == "Widget" {
				change(r)
			}
		}
	}
}

// unconfirm has no run have seen a widget written.
func (s *stage) unconfirm() { s.edit(func(r *inventory.Record) { r.UID, r.Digest = "", "" }) }

// data is what the ConfigMap of this name holds.
func (s *stage) data(name string) string {
	o := s.objects[configMap(name, "").Ref]
	if o == nil {
		return ""
	}
	value, _, _ := unstructured.NestedString(o.Object, "data", "value")
	return value
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

// TestPassing: what comes and goes by itself is told by its group and kind, not
// by a kind's name, which any group may have.
func TestPassing(t *testing.T) {
	for kind, want := range map[string]bool{
		"Event": true, "Event.events.k8s.io": true, "Endpoints": true, "PodMetrics.metrics.k8s.io": true,
		"Event.calendar.example.com": false, "Endpoints.example.com": false, "EndpointSlice.discovery.k8s.io": false,
		"ConfigMap": false, "Metric.example.com": false,
		"RoleBinding.authorization.openshift.io": true, "RoleBindingRestriction.authorization.openshift.io": false,
		"RoleBinding.rbac.authorization.k8s.io": false, "PackageManifest.packages.operators.coreos.com": true,
	} {
		name, group, _ := strings.Cut(kind, ".")
		if got := passing(lynq.APIResource{Group: group, Kind: name}); got != want {
			t.Errorf("%s passes: %t, want %t", kind, got, want)
		}
	}
}

// TestNamespaceContents: what controllers put into namespaces keeps nobody from
// deleting one, and only that.
func TestNamespaceContents(t *testing.T) {
	kinds := func(groups ...string) []lynq.APIResource {
		served := []lynq.APIResource{{Kind: "Service", Namespaced: true}, {Kind: "Namespace"}, {Group: "example.com", Kind: "Tenant"}}
		for _, g := range groups {
			served = append(served, lynq.APIResource{Group: g, Kind: "Any"})
		}
		return served
	}
	own := []lynq.NamespaceDefault{{Kind: "ConfigMap", Name: "corp-*"}, {Kind: "Widget.example.com", Name: "default"}}
	const token, pull = "kubernetes.io/service-account.name", "openshift.io/internal-registry-auth-token.service-account"
	type set = map[string]string
	for _, c := range []struct {
		object      string
		labels      set
		annotations set
		owner       string
		groups      string // in which it counts as nobody's: "all", "none", or those that must be served
	}{
		{object: "ConfigMap/n/kube-root-ca.crt", groups: "all"},
		{object: "ConfigMap.example.com/n/kube-root-ca.crt", groups: "none"},
		{object: "ConfigMap/n/kube-root-ca.crt2", groups: "none"},
		{object: "ServiceAccount/n/default", groups: "all"},
		{object: "ServiceAccount/n/ci", groups: "none"},
		{object: "Secret/n/default-token-x", annotations: set{token: "default"}, groups: "all"},
		{object: "Secret/n/default-token-x", groups: "none"},
		{object: "Secret/n/ci-token-x", annotations: set{token: "ci"}, groups: "none"},
		{object: "ConfigMap/n/openshift-service-ca.crt", groups: openShift},
		{object: "ServiceAccount/n/deployer", groups: openShift},
		{object: "ServiceAccount/n/builder", groups: openShift},
		{object: "Secret/n/builder-token-x", annotations: set{token: "builder"}, groups: openShift},
		{object: "Secret/n/deployer-dockercfg-x", annotations: set{pull: "deployer"}, groups: openShift},
		{object: "Secret/n/ci-dockercfg-x", annotations: set{pull: "ci"}, groups: "none"},
		{object: "RoleBinding.rbac.authorization.k8s.io/n/system:image-pullers", groups: openShift},
		{object: "RoleBinding.rbac.authorization.k8s.io/n/admin", groups: "none"},
		{object: "ServiceAccount/n/pipeline", groups: openShiftPipelines},
		{object: "ConfigMap/n/config-trusted-cabundle", groups: openShiftPipelines},
		{object: "RoleBinding.rbac.authorization.k8s.io/n/openshift-pipelines-edit", groups: openShiftPipelines},
		{object: "ConfigMap/n/istio-ca-root-cert", groups: "all"},
		{object: "ConfigMap/n/istio-ca-crl", groups: "all"},
		{object: "ClusterServiceVersion.operators.coreos.com/n/a.v1", labels: set{"olm.copiedFrom": "operators"}, groups: "all"},
		{object: "ClusterServiceVersion.operators.coreos.com/n/a.v1", groups: "none"},
		{object: "RoleBinding.rbac.authorization.k8s.io/n/rb-x", labels: set{"authz.cluster.cattle.io/rtb-owner-updated": "p_prtb"}, groups: "all"},
		{object: "RoleBinding.rbac.authorization.k8s.io/n/rb-x", labels: set{"authz.cluster.cattle.io/rtb-owner": "p_prtb"}, groups: "all"},
		{object: "RoleBinding.rbac.authorization.k8s.io/n/rb-x", groups: "none"},
		{object: "ResourceQuota/n/default-x", labels: set{"resourcequota.management.cattle.io/default-resource-quota": "true"}, groups: "all"},
		{object: "ResourceQuota/n/default-x", groups: "none"},
		{object: "ConfigMap/n/corp-ca", groups: "all"},
		{object: "ConfigMap/n/corp", groups: "none"},
		{object: "Secret/n/corp-ca", groups: "none"},
		{object: "Widget.example.com/n/default", groups: "all"},
		{object: "Widget/n/default", groups: "none"},
		{object: "EndpointSlice.discovery.k8s.io/n/web-x", owner: "Service", groups: "all"},
		{object: "Secret/n/x", owner: "Namespace", groups: "none"},
	} {
		ref, err := lynq.ParseRef(c.object)
		if err != nil {
			t.Fatal(err)
		}
		m := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: c.labels, Annotations: c.annotations}}
		if c.owner != "" {
			m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: c.owner, Name: "web"}}
		}
		for _, served := range []string{"", openShift, openShiftPipelines} {
			want := c.groups == "all" || served != "" && c.groups == served
			if got := newNamespaceContents(kinds(served), own).comesWithNamespace(ref, &m); got != want {
				t.Errorf("%s %v %v where %q is served: %t, want %t", c.object, c.labels, c.annotations, served, got, want)
			}
		}
	}
}
