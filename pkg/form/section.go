package form

// section is one of a form's lists of resources.
type section struct{ Name, Group, Kind string }

// anySection is the section for all kinds.
const anySection = "manifests"

// fileSection is the list of files with resources of all kinds.
const fileSection = "files"

// outside reports whether the form only names where the section's resources are: in files, a
// kustomization or a chart.
func (s section) outside() bool {
	return s.Name == fileSection || s.Name == kustomizeSection || s.Name == chartSection
}

// sections returns all sections. Group and Kind are empty for the one that accepts every
// kind.
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

// SectionFor returns the section for a kind.
func SectionFor(group, kind string) string {
	for _, s := range sections() {
		if s.Group == group && s.Kind == kind {
			return s.Name
		}
	}
	return anySection
}
