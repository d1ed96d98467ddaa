package kinds

// BuiltIn reports whether Kubernetes itself serves the kinds of a group, which are those
// of k8s.io/api, CustomResourceDefinitions and APIServices. Groups of custom resources may
// end with .k8s.io, too, as gateway.networking.k8s.io does.
func BuiltIn(group string) bool {
	switch group {
	case "", "apps", "autoscaling", "batch", "extensions", "policy",
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
		"authorization.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
		"flowcontrol.apiserver.k8s.io", "imagepolicy.k8s.io", "internal.apiserver.k8s.io", "lifecycle.k8s.io", "networking.k8s.io",
		"node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
		"storagemigration.k8s.io":
		return true
	}
	return false
}
