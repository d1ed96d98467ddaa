package kube_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// TestCapabilities wants the version of the server and all that it serves, with one request
// more than for a kind.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	version, versions, err := c.Capabilities(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^v1\.\d+\.\d+`).MatchString(version) {
		t.Errorf("version %q", version)
	}
	for _, want := range []string{"v1", "v1/ConfigMap", "apps/v1", "apps/v1/Deployment", "apps/v1/Scale", "policy/v1/PodDisruptionBudget"} {
		if !slices.Contains(versions, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if _, err := c.Resource(t.Context(), "apps", "v1", "Deployment"); err != nil {
		t.Error(err)
	}
	want := map[faultproxy.Key]int{{Verb: "get", Resource: "/api"}: 1, {Verb: "get", Resource: "/apis"}: 1, {Verb: "get", Resource: "/version"}: 1}
	if diff := cmp.Diff(want, faultproxy.Count(c.proxy.Records())); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	for resource, says := range map[string]string{"/apis": "list the kinds that the server serves", "/version": "ask the server for its version"} {
		c.rules(faultproxy.Rule{Resource: resource, Status: 403})
		if _, _, err := c.Capabilities(t.Context(), true); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", resource, err)
		}
	}
}

// TestAPIVersions wants an error if an extension doesn't answer, and never fewer kinds.
func TestAPIVersions(t *testing.T) {
	t.Parallel()
	answer := func(freshness apidiscovery.DiscoveryFreshness) []apidiscovery.APIGroupDiscovery {
		thing := func(plural, kind string) apidiscovery.APIResourceDiscovery {
			return apidiscovery.APIResourceDiscovery{Resource: plural, ResponseKind: &metav1.GroupVersionKind{Kind: kind}, Subresources: []apidiscovery.APISubresourceDiscovery{
				{Subresource: "scale", ResponseKind: &metav1.GroupVersionKind{Kind: "Scale"}}, {Subresource: "proxy"},
			}}
		}
		return []apidiscovery.APIGroupDiscovery{
			{ObjectMeta: metav1.ObjectMeta{Name: "g"}, Versions: []apidiscovery.APIVersionDiscovery{
				{Version: "v2", Freshness: freshness},
				{Version: "v1", Resources: []apidiscovery.APIResourceDiscovery{thing("bs", "B"), thing("as", "A")}},
			}},
			{Versions: []apidiscovery.APIVersionDiscovery{{Version: "v1", Resources: []apidiscovery.APIResourceDiscovery{{Resource: "cs", ResponseKind: &metav1.GroupVersionKind{Kind: "C"}}}}}},
		}
	}
	got, err := kube.APIVersions(answer(apidiscovery.DiscoveryFreshnessCurrent))
	if diff := cmp.Diff([]string{"g/v1", "g/v1/A", "g/v1/B", "g/v1/Scale", "g/v2", "v1", "v1/C"}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := kube.APIVersions(answer(apidiscovery.DiscoveryFreshnessStale)); err == nil || !strings.Contains(err.Error(), "the API g/v2 isn't available") {
		t.Errorf("a stale version: %v", err)
	}
}
