package kinds

// ClusterScoped reports whether a kind that Kubernetes itself serves has no
// namespace. It asks no cluster, so it returns false for custom resources, whose
// CustomResourceDefinition says it.
func ClusterScoped(group, kind string) bool { //nolint:gocyclo // a table
	switch group {
	case "":
		return kind == "Namespace" || kind == "Node" || kind == "PersistentVolume" || kind == "ComponentStatus"
	case "rbac.authorization.k8s.io":
		return kind == "ClusterRole" || kind == "ClusterRoleBinding"
	case "apiextensions.k8s.io":
		return kind == "CustomResourceDefinition"
	case "apiregistration.k8s.io":
		return kind == "APIService"
	case "storage.k8s.io":
		return kind == "StorageClass" || kind == "VolumeAttachment" || kind == "CSIDriver" ||
			kind == "CSINode" || kind == "VolumeAttributesClass"
	case "scheduling.k8s.io":
		return kind == "PriorityClass"
	case "node.k8s.io":
		return kind == "RuntimeClass"
	case "networking.k8s.io":
		return kind == "IngressClass" || kind == "IPAddress" || kind == "ServiceCIDR"
	case "certificates.k8s.io":
		return kind == "CertificateSigningRequest" || kind == "ClusterTrustBundle"
	case "flowcontrol.apiserver.k8s.io":
		return kind == "FlowSchema" || kind == "PriorityLevelConfiguration"
	case "resource.k8s.io":
		return kind == "DeviceClass" || kind == "ResourceSlice" || kind == "DeviceTaintRule"
	case "admissionregistration.k8s.io":
		// Every kind of this group, the webhooks' and the policies', is.
		return true
	case "internal.apiserver.k8s.io":
		return kind == "StorageVersion"
	case "storagemigration.k8s.io":
		return kind == "StorageVersionMigration"
	}
	return false
}

// ReadyOnceThere reports whether all objects of a kind are ready as soon as they exist.
// Ingresses are, because many controllers never write a status.
func ReadyOnceThere(group, kind string) bool {
	switch group {
	case "":
		switch kind {
		case "ConfigMap", "Secret", "ServiceAccount", "Endpoints", "LimitRange", "ResourceQuota",
			"PodTemplate", "PersistentVolume":
			return true
		}
	case "apps":
		return kind == "ControllerRevision"
	case "batch":
		return kind == "CronJob"
	case "networking.k8s.io":
		return kind == "NetworkPolicy" || kind == "Ingress" || kind == "IngressClass"
	case "policy":
		return kind == "PodDisruptionBudget"
	case "storage.k8s.io":
		return kind == "StorageClass" || kind == "CSIDriver" || kind == "VolumeAttributesClass"
	case "scheduling.k8s.io":
		return kind == "PriorityClass"
	case "node.k8s.io":
		return kind == "RuntimeClass"
	case "coordination.k8s.io":
		return kind == "Lease"
	case "discovery.k8s.io":
		return kind == "EndpointSlice"
	case "rbac.authorization.k8s.io", "admissionregistration.k8s.io":
		return true
	}
	return false
}

// NamespacesApart is the largest number of namespaces in which lynqctl watches a kind one by
// one. For more, one watch covers the whole cluster, which needs that permission.
const NamespacesApart = 4

// MayEnd reports whether an object of a kind can end by itself: a Job, a Pod, or a custom
// resource.
func MayEnd(group, kind string) bool {
	return group == "batch" && kind == "Job" || group == "" && kind == "Pod" || !BuiltIn(group)
}
