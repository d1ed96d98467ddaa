package kinds_test

import (
	"strings"
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

// TestReadyOnceThere checks kinds of each group. A Service may wait for a load balancer.
func TestReadyOnceThere(t *testing.T) {
	for kind, want := range map[string]bool{
		"/ConfigMap": true, "/Secret": true, "/ServiceAccount": true, "/Service": false, "/Pod": false, "/Namespace": false,
		"/PersistentVolumeClaim": false, "apps/Deployment": false, "apps/ControllerRevision": true,
		"batch/Job": false, "batch/CronJob": true,
		"networking.k8s.io/Ingress": true, "networking.k8s.io/NetworkPolicy": true, "policy/PodDisruptionBudget": true,
		"storage.k8s.io/StorageClass": true, "scheduling.k8s.io/PriorityClass": true, "node.k8s.io/RuntimeClass": true,
		"coordination.k8s.io/Lease": true, "discovery.k8s.io/EndpointSlice": true,
		"rbac.authorization.k8s.io/RoleBinding": true, "autoscaling/HorizontalPodAutoscaler": false,
		"apiextensions.k8s.io/CustomResourceDefinition": false, "example.com/ConfigMap": false,
	} {
		t.Run(kind, func(t *testing.T) {
			group, name, _ := strings.Cut(kind, "/")
			if got := kinds.ReadyOnceThere(group, name); got != want {
				t.Errorf("%s: %t", kind, got)
			}
		})
	}
}
