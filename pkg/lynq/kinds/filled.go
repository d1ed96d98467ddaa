package kinds

import "strings"

// A Filled is a field that the server, a controller or an injector fills after a client
// wrote the object.
type Filled struct {
	// Path leads to the field. Each step is a name, Each, or an item of a list as in ItemOf.
	Path []string
	// By are known field managers that fill it, and others may too. It is empty if the server
	// fills it, without a manager.
	By []string
	// Fixed is set if the server refuses to change or remove the value.
	Fixed bool
	// Kept is set if the server keeps the value when a replacement lacks it.
	Kept bool
	// Text is set if an empty text is a value there, and Zero if 0 isn't one.
	Text, Zero bool
	// If names a field that the manifest must set, and Type the type that it must have.
	If, Type string
}

// Each is the step of a path into every item of a list.
const Each = "[]"

// ItemOf splits a step such as "[name=kube-api-access-]". It stands for the items of a list
// in which a field begins with a text. It returns false for any other step.
func ItemOf(step string) (field, prefix string, is bool) {
	inner, begins := strings.CutPrefix(step, "[")
	field, prefix, is = strings.Cut(strings.TrimSuffix(inner, "]"), "=")
	return field, prefix, begins && is
}

// fill is a line of the table: fields of a kind, separated by semicolons. The steps of
// their paths, and field managers, are separated by spaces.
type fill struct {
	kind, paths, by         string
	fixed, kept, text, zero bool
	when, of                string
}

// FilledFields returns the fields of a kind that others fill. An empty value in a manifest
// claims none of them, and a replacement keeps them. This is the only table of such fields.
func FilledFields(group, kind string) []Filled {
	name := kind
	if group != "" {
		name = kind + "." + group
	}
	var found []Filled
	for _, f := range fills() {
		if f.kind != name {
			continue
		}
		for path := range strings.SplitSeq(f.paths, "; ") {
			found = append(found, Filled{
				Path: strings.Fields(path), By: strings.Fields(f.by), Fixed: f.fixed, Kept: f.kept, Text: f.text, Zero: f.zero, If: f.when, Type: f.of,
			})
		}
	}
	return found
}

// FilledBy reports whether a field manager fills fields of a kind.
func FilledBy(group, kind, manager string) bool {
	for _, f := range FilledFields(group, kind) {
		for _, by := range f.By {
			if by == manager {
				return true
			}
		}
	}
	return false
}

func fills() []fill {
	const (
		controllers = "kube-controller-manager"
		injectors   = "cert-manager-cainjector cainjector pilot-discovery webhook-cert-manager"
		mounts      = "volumeMounts; spec containers [] volumeMounts [mountPath=/var/run/secrets/kubernetes.io/serviceaccount]"
	)
	return []fill{
		{kind: "PersistentVolumeClaim", paths: "spec volumeName", by: controllers, fixed: true},
		{kind: "PersistentVolumeClaim", paths: "spec storageClassName; spec volumeAttributesClassName", by: controllers, fixed: true, text: true},
		{kind: "PersistentVolumeClaim", paths: "spec volumeMode; spec dataSource; spec dataSourceRef", fixed: true},
		{kind: "PersistentVolume", paths: "spec claimRef", by: controllers, fixed: true},
		{kind: "PersistentVolume", paths: "spec volumeMode", fixed: true},
		{kind: "Service", paths: "spec clusterIP; spec clusterIPs", fixed: true},
		{kind: "Service", paths: "spec ipFamilies; spec ipFamilyPolicy", kept: true},
		{kind: "Service", paths: "spec healthCheckNodePort; spec ports [] nodePort", kept: true, zero: true},
		{kind: "ServiceAccount", paths: "secrets; imagePullSecrets", by: controllers + " openshift-controller-manager"},
		{kind: "Secret", paths: "data; data ca.crt; data namespace; data token", by: controllers, of: "kubernetes.io/service-account-token"},
		{kind: "Pod", paths: "spec nodeName", by: "kube-scheduler", fixed: true},
		{kind: "Pod", paths: "spec serviceAccountName; spec serviceAccount; spec priorityClassName; spec priority; spec preemptionPolicy; spec overhead; spec imagePullSecrets", fixed: true},
		{kind: "Pod", paths: "spec tolerations; spec tolerations [key=node.kubernetes.io/]; spec volumes; spec volumes [name=kube-api-access-]", fixed: true},
		{kind: "Pod", paths: "spec containers [] resources; spec containers [] " + mounts, fixed: true},
		{kind: "Pod", paths: "spec initContainers [] resources; spec initContainers [] " + strings.ReplaceAll(mounts, " containers", " initContainers"), fixed: true},
		{kind: "Node", paths: "spec podCIDR; spec podCIDRs; spec providerID; spec taints", by: controllers + " kubelet cloud-controller-manager"},
		{kind: "Namespace", paths: "spec finalizers", fixed: true},
		{kind: "Endpoints", paths: "subsets", by: controllers},
		{kind: "ReplicationController", paths: "spec replicas"},
		{kind: "Deployment.apps", paths: "spec replicas"},
		{kind: "StatefulSet.apps", paths: "spec replicas"},
		{kind: "ReplicaSet.apps", paths: "spec replicas"},
		{kind: "Job.batch", paths: "spec selector", fixed: true},
		{kind: "ClusterRole.rbac.authorization.k8s.io", paths: "rules", by: "clusterrole-aggregation-controller", when: "aggregationRule"},
		{kind: "ValidatingWebhookConfiguration.admissionregistration.k8s.io", paths: "webhooks [] clientConfig caBundle", by: injectors},
		{kind: "MutatingWebhookConfiguration.admissionregistration.k8s.io", paths: "webhooks [] clientConfig caBundle", by: injectors},
		{kind: "CustomResourceDefinition.apiextensions.k8s.io", by: injectors, paths: "spec conversion; spec conversion webhook; spec conversion webhook clientConfig; " +
			"spec conversion webhook clientConfig caBundle"},
		{kind: "CustomResourceDefinition.apiextensions.k8s.io", paths: "spec names singular; spec names listKind"},
		{kind: "APIService.apiregistration.k8s.io", paths: "spec caBundle", by: injectors},
		{kind: "Ingress.networking.k8s.io", paths: "spec ingressClassName", fixed: true},
		{kind: "Lease.coordination.k8s.io", paths: "spec holderIdentity; spec acquireTime; spec renewTime; spec leaseTransitions", by: "leader-election"},
	}
}
