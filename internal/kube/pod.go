package kube

import (
	"path"
	"strings"

	"k8s.io/client-go/rest"
)

// podFiles is the folder with a pod's ServiceAccount token and namespace.
const podFiles = "/var/run/secrets/kubernetes.io/serviceaccount"

// podNamespace returns the namespace of this pod, or "" outside of a pod. It uses the same
// signs as client-go, which uses the ServiceAccount if no kubeconfig names a cluster.
func podNamespace(getenv func(string) string, read func(string) ([]byte, error)) string {
	if getenv("KUBERNETES_SERVICE_HOST") == "" || getenv("KUBERNETES_SERVICE_PORT") == "" {
		return ""
	}
	if _, err := read(path.Join(podFiles, "token")); err != nil {
		return ""
	}
	namespace, err := read(path.Join(podFiles, "namespace"))
	if err != nil {
		return "" // client-go continues, too: only a default is lost
	}
	return strings.TrimSpace(string(namespace))
}

// asked adds the flags about the user to a configuration. client-go ignores them with a
// pod's ServiceAccount. So a test as another user would run with all permissions of the
// pod.
func (a Access) asked(config *rest.Config) *rest.Config {
	user := a.overrides.AuthInfo
	if user.Impersonate != "" {
		config.Impersonate.UserName = user.Impersonate
	}
	if user.ImpersonateUID != "" {
		config.Impersonate.UID = user.ImpersonateUID
	}
	if len(user.ImpersonateGroups) > 0 {
		config.Impersonate.Groups = user.ImpersonateGroups
	}
	return config
}
