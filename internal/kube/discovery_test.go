package kube_test

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

func TestResourceAsksTwice(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	for _, want := range []lynq.APIResource{
		configMaps, namespaces, deployments,
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", Plural: "clusterroles"},
		{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers", Namespaced: true},
		{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers", Namespaced: true},
	} {
		got, err := c.Resource(t.Context(), want.Group, want.Version, want.Kind)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	if got, err := c.Resource(t.Context(), "autoscaling", "", "HorizontalPodAutoscaler"); err != nil || got.Version != "v2" {
		t.Errorf("preferred: %v, %v", got, err)
	}
	for _, gvk := range [][3]string{{"apps", "v9", "Deployment"}, {"apps", "v1", "Deploiment"}, {"nope.example", "", "X"}} {
		_, err := c.Resource(t.Context(), gvk[0], gvk[1], gvk[2])
		if noKind := (*meta.NoKindMatchError)(nil); !errors.As(err, &noKind) || !meta.IsNoMatchError(err) {
			t.Errorf("%s: %v, want a NoKindMatchError", gvk, err)
		}
	}
	want := map[faultproxy.Key]int{{Verb: "get", Resource: "/api"}: 1, {Verb: "get", Resource: "/apis"}: 1}
	if diff := cmp.Diff(want, faultproxy.Count(c.proxy.Records())); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestRefreshThatFails wants the known kinds to stay if the server can't be asked again.
func TestRefreshThatFails(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	if _, err := c.Resource(t.Context(), "apps", "v1", "Deployment"); err != nil {
		t.Fatal(err)
	}
	c.rules(faultproxy.Rule{Resource: "/api", Status: 403})
	if err := c.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "the kinds that the server serves") {
		t.Errorf("got %v", err)
	}
	if _, err := c.Resource(t.Context(), "apps", "v1", "Deployment"); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if err := c.Refresh(ended); !errors.Is(err, cause) {
		t.Errorf("got %v, want the context's cause", err)
	}
}

// extension is an API without a server.
const extension = `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.GROUP}
spec:
  group: GROUP
  version: v1
  groupPriorityMinimum: 10
  versionPriority: 10
  insecureSkipTLSVerify: true
  service: {name: nothing, namespace: default}
`

// TestUnavailableGroup wants an error that names the extension that doesn't answer. It has its
// own cluster, because other tests list all that a server has.
func TestUnavailableGroup(t *testing.T) {
	t.Parallel()
	own := harness.Shared{Own: true}
	t.Cleanup(own.Stop)
	env := own.Env(t)
	group := env.Namespace + ".test"
	env.Kubectl(t, strings.ReplaceAll(extension, "GROUP", group), "apply", "-f", "-")
	client := newClient(t, env.Kubeconfig)
	unavailable := &lynq.GroupUnavailableError{}
	// The server takes a moment to notice.
	until(t, func() bool {
		if err := client.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err := client.Resource(t.Context(), group, "", "Widget")
		return errors.As(err, &unavailable)
	})
	if _, err := client.Resource(t.Context(), group, "v1", "Widget"); meta.IsNoMatchError(err) || !strings.Contains(err.Error(), "kubectl get apiservice v1."+group) {
		t.Errorf("got %v", err)
	}
	kinds, err := client.Listable(t.Context())
	if !errors.As(err, &unavailable) || unavailable.Group != group {
		t.Errorf("listable kinds: got %v, want that nobody knows those of %s", err, group)
	}
	if !slices.ContainsFunc(kinds, func(r lynq.APIResource) bool { return r.Kind == "Deployment" }) {
		t.Errorf("listable kinds: those that are known do not come with the error: %v", kinds)
	}
	if _, err := client.Resource(t.Context(), "apps", "v1", "Deployment"); err != nil {
		t.Errorf("another group: %v", err)
	}
}

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// defineWidgets defines a custom resource for one test.
func defineWidgets(t *testing.T, env *harness.Env) (group string) {
	t.Helper()
	group = env.Namespace + ".test"
	env.Kubectl(t, strings.ReplaceAll(widgets, "GROUP", group), "apply", "-f", "-")
	cleanUp(t, env, "crd", "widgets."+group)
	env.Wait(t, "customresourcedefinition/widgets."+group, harness.ConditionTrue("Established"))
	return group
}

func TestRefreshFindsNewKinds(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	client := newClient(t, env.Kubeconfig)
	if _, err := client.Resource(t.Context(), env.Namespace+".test", "v1", "Widget"); !meta.IsNoMatchError(err) {
		t.Fatalf("before there is a definition: %v", err)
	}
	group := defineWidgets(t, env)
	until(t, func() bool {
		if err := client.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err := client.Resource(t.Context(), group, "v1", "Widget")
		return err == nil
	})
}

func TestFind(t *testing.T) {
	resource := func(name, kind string) apidiscovery.APIResourceDiscovery {
		return apidiscovery.APIResourceDiscovery{Resource: name, ResponseKind: &metav1.GroupVersionKind{Kind: kind}, Scope: apidiscovery.ScopeCluster}
	}
	version := func(name string, fresh apidiscovery.DiscoveryFreshness, resources ...apidiscovery.APIResourceDiscovery) apidiscovery.APIVersionDiscovery {
		return apidiscovery.APIVersionDiscovery{Version: name, Freshness: fresh, Resources: resources}
	}
	group := func(name string, versions ...apidiscovery.APIVersionDiscovery) apidiscovery.APIGroupDiscovery {
		return apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: name}, Versions: versions}
	}
	answer := []apidiscovery.APIGroupDiscovery{
		group("g", version("v2", apidiscovery.DiscoveryFreshnessStale, resource("olds", "Old")),
			version("v1", apidiscovery.DiscoveryFreshnessCurrent, resource("things", "Thing"), resource("others", "Thing"), apidiscovery.APIResourceDiscovery{Resource: "none"})),
		group("h", version("v2", "", resource("as", "A")), version("v1", "", resource("as", "A"), resource("bs", "B"))),
	}
	for _, c := range []struct{ group, version, kind, want string }{
		{"g", "v1", "Thing", "things v1"},
		{"g", "", "Thing", "things v1"},
		{"g", "", "Other", `kind Other: the API g/v2 isn't available`},
		{"g", "v2", "Old", "kind Old: the API g/v2 isn't available"},
		{"g", "v1", "Old", `no matches for kind "Old" in version "g/v1"`},
		{"g", "v3", "Old", `no matches for kind "Old" in version "g/v3"`},
		{"h", "", "A", "as v2"},
		{"h", "", "B", "bs v1"},
		{"h", "v2", "B", `no matches for kind "B" in version "h/v2"`},
		{"i", "", "B", `no matches for kind "B" in group "i"`},
	} {
		t.Run(c.group, func(t *testing.T) {
			r, err := kube.Find(answer, c.group, c.version, c.kind)
			got := r.Plural + " " + r.Version
			if err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("%s/%s %s: got %q, want %q", c.group, c.version, c.kind, got, c.want)
			}
		})
	}
}

// cleanUp deletes cluster-wide objects when the test ends.
func cleanUp(t *testing.T, env *harness.Env, ref ...string) {
	t.Helper()
	t.Cleanup(func() {
		args := append([]string{"--kubeconfig", env.Cluster.Kubeconfig, "delete", "--wait=false"}, ref...)
		if out, err := exec.Command(env.Cluster.Kubectl, args...).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// until asks again until the server notices.
func until(t *testing.T, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for !done() {
		if ctx.Err() != nil {
			t.Fatal("it does not come")
		}
	}
}
