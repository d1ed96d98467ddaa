package hooks

import "regexp"

// KubectlImage returns the kubectl image of the Kubernetes release that matches client-go,
// or "". For example, client-go v0.35.1 matches v1.35.1.
func KubectlImage(clientGo string) string {
	version := regexp.MustCompile(`^v0(\.\d+\.\d+)$`).FindStringSubmatch(clientGo)
	if version == nil {
		return ""
	}
	return "registry.k8s.io/kubectl:v1" + version[1]
}
