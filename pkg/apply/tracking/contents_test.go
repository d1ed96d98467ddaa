package tracking

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestPassing checks that group and kind identify passing objects, and not the kind's name
// alone, which any group may have.
func TestPassing(t *testing.T) {
	for kind, want := range map[string]bool{
		"Event": true, "Event.events.k8s.io": true, "Endpoints": true, "PodMetrics.metrics.k8s.io": true,
		"Event.calendar.example.com": false, "Endpoints.example.com": false, "EndpointSlice.discovery.k8s.io": false,
		"ConfigMap": false, "Metric.example.com": false,
		"RoleBinding.authorization.openshift.io": true, "RoleBindingRestriction.authorization.openshift.io": false,
		"RoleBinding.rbac.authorization.k8s.io": false, "PackageManifest.packages.operators.coreos.com": true,
	} {
		t.Run(kind, func(t *testing.T) {
			name, group, _ := strings.Cut(kind, ".")
			if got := Passing(lynq.APIResource{Group: group, Kind: name}); got != want {
				t.Errorf("%s passes: %t, want %t", kind, got, want)
			}
		})
	}
}

// TestNamespaceContents checks that objects which controllers create in namespaces don't
// keep a namespace, and that all others do.
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
		groups      string // the groups with which it counts as nobody's: "all", "none", or groups that the cluster must serve
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
		t.Run(c.object, func(t *testing.T) {
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
				if got := NewContents(kinds(served), own).ComesWithNamespace(ref, &m); got != want {
					t.Errorf("%s %v %v where %q is served: %t, want %t", c.object, c.labels, c.annotations, served, got, want)
				}
			}
		})
	}
}
