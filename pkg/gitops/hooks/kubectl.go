package hooks

import "regexp"

// KubectlImage is the image with kubectl of Kubernetes' own releases, by the version of
// client-go, "" where that is none: its v0.35.1 goes with v1.35.1.
func KubectlImage(clientGo string) string {
	version := regexp.MustCompile(`^v0(\.\d+\.\d+)$`).FindStringSubmatch(clientGo)
	if version == nil {
		return ""
	}
	return "registry.k8s.io/kubectl:v1" + version[1]
}
