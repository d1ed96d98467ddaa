package handover

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// object is one that the LynqNode owns, or labels where that is not its namespace.
func object(apiVersion, kind, namespace, name string) *metav1.PartialObjectMetadata {
	m := live()
	m.Namespace, m.Name, m.UID = namespace, name, types.UID(kind+namespace+name)
	if namespace != "shop" {
		m.OwnerReferences = nil
		m.Labels = map[string]string{wellknown.LabelNode: "acme-web", wellknown.LabelNodeNamespace: "shop"}
	}
	return typed(m, apiVersion, kind)
}

func kinds() []lynq.APIResource {
	return append(coreKinds(),
		lynq.APIResource{Version: "v1", Kind: "Namespace", Plural: "namespaces"},
		lynq.APIResource{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true},
		lynq.APIResource{Group: "example.com", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true},
	)
}

func TestLook(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "x", errors.New("no"))
	resource := func(apiVersion, kind, namespace, name string) Resource {
		r := Resource{ID: strings.ToLower(kind), APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
		r.namespaceIsOpen, r.nameIsOpen = isTemplate(namespace), isTemplate(name) || name == ""
		return r
	}
	nobodys := func(m *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
		m.OwnerReferences, m.Labels = nil, nil
		return m
	}
	for name, tt := range map[string]struct {
		resources []Resource
		applied   []string
		objects   []*metav1.PartialObjectMetadata
		fail      func(string) error
		want      []string // reference, whether it is there, or the error
	}{
		"by name": {resources: []Resource{resource("v1", "ConfigMap", "", "acme"), resource("v1", "ConfigMap", "far", "acme"), resource("v1", "Namespace", "", "room")},
			objects: []*metav1.PartialObjectMetadata{object("v1", "ConfigMap", "far", "acme"), object("v1", "Namespace", "", "room")},
			want:    []string{"ConfigMap/shop/acme absent", "ConfigMap/far/acme there", "Namespace/room there"}},
		"not to be read": {resources: []Resource{resource("v1", "ConfigMap", "", "acme")}, fail: always("get ConfigMap/acme", forbidden),
			want: []string{"ConfigMap/shop/acme things \"x\" is forbidden"}},
		"a kind that is no more": {resources: []Resource{resource("v1", "Gone", "", "acme")}, want: []string{"Gone/acme absent"}},
		"a kind that may be defined": {resources: []Resource{resource("gone.example.com/v1", "Gone", "", "acme")},
			want: []string{"Gone.gone.example.com/acme check whether kind Gone.gone.example.com, which the server doesn't serve, is still defined: no matches for kind \"CustomResourceDefinition\""}},
		"namespace open": {resources: []Resource{resource("v1", "ConfigMap", "{{ .uid }}", "acme"), resource("v1", "ConfigMap", "far", "acme")},
			objects: []*metav1.PartialObjectMetadata{object("v1", "ConfigMap", "far", "acme"), object("v1", "ConfigMap", "open", "acme"), object("v1", "ConfigMap", "open", "other"), nobodys(object("v1", "ConfigMap", "third", "acme"))},
			want:    []string{"ConfigMap/open/acme there", "ConfigMap/far/acme there"}},
		"namespace open, and its own": {resources: []Resource{resource("v1", "ConfigMap", "{{ .uid }}", "acme")},
			objects: []*metav1.PartialObjectMetadata{object("v1", "ConfigMap", "shop", "acme")}, want: []string{"ConfigMap/shop/acme there"}},
		"name open": {resources: []Resource{resource("v1", "ConfigMap", "", "{{ .uid }}"), resource("v1", "ConfigMap", "", "known")},
			objects: []*metav1.PartialObjectMetadata{object("v1", "ConfigMap", "shop", "known"), object("v1", "ConfigMap", "shop", "acme"), nobodys(object("v1", "ConfigMap", "shop", "stranger"))},
			want:    []string{"ConfigMap/shop/acme there", "ConfigMap/shop/known there"}},
		"name open, none": {resources: []Resource{resource("v1", "ConfigMap", "", "")}, want: []string{"ConfigMap/shop/ absent"}},
		"name open, two": {resources: []Resource{resource("v1", "ConfigMap", "", "")},
			objects: []*metav1.PartialObjectMetadata{object("v1", "ConfigMap", "shop", "a"), object("v1", "ConfigMap", "shop", "b")},
			want:    []string{"ConfigMap/shop/ lynqctl can't tell which object resource \"configmap\" makes, because its name or namespace is a template. This LynqNode has all of these: ConfigMap/shop/a, ConfigMap/shop/b"}},
		"open, and not to be listed": {resources: []Resource{resource("v1", "ConfigMap", "{{ .uid }}", "acme")}, fail: always("list ConfigMap ", forbidden),
			want: []string{"ConfigMap/{{ .uid }}/acme things \"x\" is forbidden"}},
		"dropped, of one group": {applied: []string{"Deployment/shop/acme@old"},
			objects: []*metav1.PartialObjectMetadata{nobodys(object("apps/v1", "Deployment", "shop", "acme")), object("example.com/v1", "Deployment", "shop", "acme")},
			want:    []string{"Deployment.example.com/shop/acme there, dropped, Delete"}},
		"dropped, of two": {applied: []string{"Deployment/shop/acme@old"},
			objects: []*metav1.PartialObjectMetadata{object("apps/v1", "Deployment", "shop", "acme"), object("example.com/v1", "Deployment", "shop", "acme")},
			want:    []string{"Deployment/shop/acme lynqctl can't tell which object resource \"old\" made. This LynqNode has all of these: Deployment.apps/shop/acme, Deployment.example.com/shop/acme"}},
		"dropped, without a namespace": {applied: []string{"Namespace/shop/room@old"}, objects: []*metav1.PartialObjectMetadata{object("v1", "Namespace", "", "room")},
			want: []string{"Namespace/room there, dropped, Delete"}},
		"dropped, namespace open": {applied: []string{"ConfigMap/{{ .uid }}/acme@old"},
			objects: []*metav1.PartialObjectMetadata{object("v1", "ConfigMap", "far", "acme"), object("v1", "ConfigMap", "far", "other")},
			want:    []string{"ConfigMap/far/acme there, dropped, Delete"}},
		"dropped, gone":     {applied: []string{"ConfigMap/shop/acme@old"}, want: nil},
		"dropped, nobody's": {applied: []string{"ConfigMap/shop/acme@old"}, objects: []*metav1.PartialObjectMetadata{nobodys(object("v1", "ConfigMap", "shop", "acme"))}},
		"dropped, renamed id": {resources: []Resource{resource("v1", "ConfigMap", "", "acme")}, applied: []string{"ConfigMap/shop/acme@old"},
			objects: []*metav1.PartialObjectMetadata{object("v1", "ConfigMap", "shop", "acme")}, want: []string{"ConfigMap/shop/acme there"}},
		"dropped, not to be read": {applied: []string{"ConfigMap/shop/acme@old"}, fail: always("get ConfigMap/acme", forbidden),
			want: []string{"ConfigMap/shop/acme look whether it is the one that resource \"old\" made: things \"x\" is forbidden"}},
		"dropped, not all kinds known": {applied: []string{"ConfigMap/shop/acme@old"}, fail: always("discover", errors.New("a group does not answer")),
			want: []string{"ConfigMap/shop/acme find out which kind ConfigMap is: a group does not answer"}},
		"dropped, no key": {applied: []string{"nonsense"}, want: []string{"Unknown/nonsense status.appliedResources has a key"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, kinds(), tt.objects...)
			s.fail = tt.fail
			n := node()
			n.Resources, n.Applied = tt.resources, tt.applied
			found, err := NewLooker(s, 1).Nodes(context.Background(), []*Node{n})
			if err != nil {
				t.Errorf("%v", err)
				return
			}
			var got []string
			for i := range found[0] {
				got = append(got, short(&found[0][i]))
			}
			for i := range min(len(got), len(tt.want)) {
				if strings.HasPrefix(got[i], tt.want[i]) {
					got[i] = tt.want[i]
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func short(f *Found) string {
	switch {
	case f.Err != nil:
		return f.Full() + " " + f.Err.Error()
	case f.Meta == nil:
		return f.Full() + " absent"
	case f.Dropped:
		return fmt.Sprintf("%s there, dropped, %s", f.Full(), f.Deletion)
	}
	return f.Full() + " there"
}

// TestLookOnce: what all nodes need is listed once.
func TestLookOnce(t *testing.T) {
	s := newStage(t, kinds())
	var nodes []*Node
	for _, name := range []string{"a", "b", "c"} {
		n := named(name)
		n.Resources = []Resource{{ID: "open", APIVersion: "v1", Kind: "ConfigMap", Namespace: "{{ .uid }}", Name: "x", namespaceIsOpen: true}}
		nodes = append(nodes, n)
	}
	if _, err := NewLooker(s, 3).Nodes(context.Background(), nodes); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"list ConfigMap ", "list ConfigMap shop"}, s.calls); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewLooker(s, 3).Nodes(ctx, nodes); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
