package form

// section is one of the lists of resources that a form has.
type section struct{ Name, Group, Kind string }

// anySection is the section that takes every kind.
const anySection = "manifests"

// sections is all of them. Group and Kind are empty for the one that takes
// every kind.
func sections() []section {
	return []section{
		{"serviceAccounts", "", "ServiceAccount"},
		{"deployments", "apps", "Deployment"},
		{"statefulSets", "apps", "StatefulSet"},
		{"daemonSets", "apps", "DaemonSet"},
		{"services", "", "Service"},
		{"ingresses", "networking.k8s.io", "Ingress"},
		{"configMaps", "", "ConfigMap"},
		{"secrets", "", "Secret"},
		{"persistentVolumeClaims", "", "PersistentVolumeClaim"},
		{"jobs", "batch", "Job"},
		{"cronJobs", "batch", "CronJob"},
		{"podDisruptionBudgets", "policy", "PodDisruptionBudget"},
		{"networkPolicies", "networking.k8s.io", "NetworkPolicy"},
		{"horizontalPodAutoscalers", "autoscaling", "HorizontalPodAutoscaler"},
		{"namespaces", "", "Namespace"},
		{anySection, "", ""},
	}
}

// sectionFor names the section that a kind belongs to.
func sectionFor(group, kind string) string {
	for _, s := range sections() {
		if s.Group == group && s.Kind == kind {
			return s.Name
		}
	}
	return anySection
}
