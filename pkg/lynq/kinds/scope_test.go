package kinds_test

import (
	"testing"

	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// TestClusterScoped compares with the OpenAPI document of Kubernetes that kyaml
// carries.
func TestClusterScoped(t *testing.T) {
	served := map[string][]string{
		"v1":                              {"Namespace", "Node", "PersistentVolume", "Pod", "Service", "Secret", "ConfigMap", "PersistentVolumeClaim"},
		"apps/v1":                         {"Deployment", "StatefulSet", "DaemonSet"},
		"rbac.authorization.k8s.io/v1":    {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"},
		"apiextensions.k8s.io/v1":         {"CustomResourceDefinition"},
		"apiregistration.k8s.io/v1":       {"APIService"},
		"storage.k8s.io/v1":               {"StorageClass", "VolumeAttachment", "CSIDriver", "CSINode", "CSIStorageCapacity"},
		"scheduling.k8s.io/v1":            {"PriorityClass"},
		"node.k8s.io/v1":                  {"RuntimeClass"},
		"networking.k8s.io/v1":            {"IngressClass", "Ingress", "NetworkPolicy"},
		"certificates.k8s.io/v1":          {"CertificateSigningRequest"},
		"admissionregistration.k8s.io/v1": {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"},
	}
	compared := 0
	for apiVersion, names := range served {
		for _, kind := range names {
			namespaced, known := openapi.IsNamespaceScoped(yaml.TypeMeta{APIVersion: apiVersion, Kind: kind})
			if !known {
				continue
			}
			compared++
			group, _ := lynq.SplitAPIVersion(apiVersion)
			if got := kinds.ClusterScoped(group, kind); got == namespaced {
				t.Errorf("ClusterScoped(%s, %s) = %v", apiVersion, kind, got)
			}
		}
	}
	if compared < 25 {
		t.Errorf("only %d kinds are in the OpenAPI document", compared)
	}
	if kinds.ClusterScoped("example.com", "Namespace") {
		t.Error("a custom kind is taken for cluster-scoped")
	}
}

// TestReadyOnceThere: what is in Secrets need not be read. A Service may wait for
// a load balancer.
func TestReadyOnceThere(t *testing.T) {
	for kind, want := range map[string]bool{"Secret": true, "ConfigMap": true, "Service": false, "Pod": false} {
		if got := kinds.ReadyOnceThere("", kind); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}
