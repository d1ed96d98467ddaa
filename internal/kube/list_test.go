package kube_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// fill creates n ConfigMaps with the label app=a, and returns their names.
func (c *through) fill(t *testing.T, n int) []string {
	t.Helper()
	var names []string
	for i := range n {
		name := fmt.Sprintf("m%03d", i)
		if _, err := c.Write(t.Context(), configMaps, c.configMap(write.Create, name, "1")); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// names lists with both kinds of lists.
func names(ctx context.Context, client *kube.Client, namespace string) (metadata, whole []string, err error) {
	err = client.List(ctx, configMaps, namespace, "app=a", func(m *metav1.PartialObjectMetadata) func() {
		return func() { metadata = append(metadata, m.Name) }
	})
	if err == nil {
		err = client.ConfigMaps().List(ctx, namespace, "app=a", func(m *corev1.ConfigMap) func() {
			text := m.Name + m.Data["key"]
			return func() { whole = append(whole, text) }
		})
	}
	return metadata, whole, err
}

func TestListFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		rules []faultproxy.Rule
		lists int // requests of both lists
	}{
		{"none", nil, 6},
		{"first page cut", []faultproxy.Rule{{Verb: "list", End: faultproxy.CutAfter, Times: 1}}, 7},
		{"later pages cut", []faultproxy.Rule{{Verb: "list", Continue: true, End: faultproxy.CutAfter, Times: 2}}, 8},
		{"busy", []faultproxy.Rule{{Verb: "list", Status: 429, RetryAfter: 1, Times: 2}}, 8},
		// A page, 410, everything at once; then the other list.
		{"expired once", []faultproxy.Rule{{Verb: "list", Continue: true, Status: 410, Times: 1}}, 2 + 1 + 3},
		// The third page of the first try expires, so the first two come again.
		{"expired late", []faultproxy.Rule{{Verb: "list", Continue: true, Status: 410, Skip: 1, Times: 1}}, 3 + 1 + 3},
		// A page, 410, everything at once; for both lists.
		{"expires always", []faultproxy.Rule{{Verb: "list", Continue: true, Status: 410}}, 2 * (2 + 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newThrough(t, faultproxy.Options{})
			want := p.fill(t, 7)
			p.rules(c.rules...)
			got, whole, err := names(t.Context(), p.WithPageSize(3), p.Namespace)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
			for i := range want {
				want[i] += "1"
			}
			if diff := cmp.Diff(want, whole); diff != "" {
				t.Errorf("whole (-want +got):\n%s", diff)
			}
			if n := p.requests("list", "configmaps"); n != c.lists {
				t.Errorf("%d requests, want %d", n, c.lists)
			}
		})
	}
}

// TestListThatFailsGivesNothing wants no object from an incomplete list.
func TestListThatFailsGivesNothing(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{HTTP1: true})
	c.fill(t, 4)
	for _, rule := range []faultproxy.Rule{
		{Verb: "list", Continue: true, End: faultproxy.CutAfter},
		{Verb: "list", Continue: true, Status: 403},
		{Verb: "list", Status: 503},
	} {
		c.rules(rule)
		got, _, err := names(t.Context(), c.WithPageSize(3), c.Namespace)
		if err == nil || len(got) > 0 || !strings.Contains(err.Error(), "list configmaps") {
			t.Errorf("%+v: %v, %v", rule, got, err)
		}
	}
}

// TestListMetadata wants all metadata from a list, of built-in and custom kinds.
func TestListMetadata(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	client := newClient(t, env.Kubeconfig)
	widget := lynq.APIResource{Group: defineWidgets(t, env), Version: "v1", Kind: "Widget", Plural: "widgets", Namespaced: true}
	for _, r := range []lynq.APIResource{configMaps, widget} {
		body := jsonOf(map[string]any{"apiVersion": r.APIVersion(), "kind": r.Kind, "metadata": map[string]any{
			"name": "m", "labels": map[string]any{"app": "a"}, "annotations": map[string]any{"note": "n"},
		}})
		var wrote *metav1.PartialObjectMetadata
		until(t, func() (done bool) { // the server may serve a new kind a moment later
			var err error
			wrote, err = client.Write(t.Context(), r, write.Request{Verb: write.Apply, Namespace: env.Namespace, Name: "m", Body: body})
			if err != nil && !meta.IsNoMatchError(err) {
				t.Fatal(err)
			}
			return err == nil
		})
		var got []*metav1.PartialObjectMetadata
		if err := client.List(t.Context(), r, env.Namespace, "app=a", func(m *metav1.PartialObjectMetadata) func() { return func() { got = append(got, m) } }); err != nil {
			t.Fatal(err)
		}
		one, err := client.Metadata(t.Context(), r, env.Namespace, "m")
		if diff := cmp.Diff([]*metav1.PartialObjectMetadata{wrote, wrote}, append(got, one)); err != nil || diff != "" {
			t.Errorf("%s, %v (-written +listed, read):\n%s", r.Kind, err, diff)
		}
		if wrote.UID == "" || wrote.Kind != r.Kind || wrote.Annotations["note"] != "n" || len(wrote.ManagedFields) != 1 || wrote.ManagedFields[0].Manager != wellknown.FieldManager {
			t.Errorf("%+v", wrote)
		}
	}
	var all []string
	if err := client.List(t.Context(), configMaps, "", "app=a", func(m *metav1.PartialObjectMetadata) func() {
		return func() { all = append(all, m.Namespace) }
	}); err != nil || !slices.Contains(all, env.Namespace) {
		t.Errorf("in all namespaces: %v, %v", all, err)
	}
}

func TestListRefused(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	nobody := newClient(t, env.As(t, "nobody-"+env.Namespace))
	_, _, err := names(t.Context(), nobody, env.Namespace)
	want := `configmaps is forbidden: User "nobody-` + env.Namespace + `" cannot list resource "configmaps" in API group "" in the namespace "` + env.Namespace + `"`
	if !apierrors.IsForbidden(err) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	gone := lynq.APIResource{Group: "nope.example", Version: "v1", Kind: "Nope", Plural: "nopes", Namespaced: true}
	unknown := lynq.APIResource{Group: "apps", Version: "v1", Kind: "Nope", Plural: "nopes", Namespaced: true}
	client := newClient(t, env.Kubeconfig)
	for _, r := range []lynq.APIResource{gone, unknown} {
		err := client.List(t.Context(), r, env.Namespace, "", func(*metav1.PartialObjectMetadata) func() { return nil })
		if !meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			t.Errorf("%s: %v, want a NoKindMatchError", r.APIVersion(), err)
		}
		if _, err := client.Get(t.Context(), r, env.Namespace, "x"); !meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			t.Errorf("%s: %v, want a NoKindMatchError", r.APIVersion(), err)
		}
	}
}
