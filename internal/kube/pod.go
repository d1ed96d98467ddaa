package kube

import (
	"path"
	"strings"

	"k8s.io/client-go/rest"
)

// podFiles is where a pod finds its ServiceAccount's token and namespace.
const podFiles = "/var/run/secrets/kubernetes.io/serviceaccount"

// podNamespace is the namespace of the pod that this is, "" where it is none. What makes
// one of it is what client-go goes by, which takes the ServiceAccount where no kubeconfig
// names a cluster.
func podNamespace(getenv func(string) string, read func(string) ([]byte, error)) string {
	if getenv("KUBERNETES_SERVICE_HOST") == "" || getenv("KUBERNETES_SERVICE_PORT") == "" {
		return ""
	}
	if _, err := read(path.Join(podFiles, "token")); err != nil {
		return ""
	}
	namespace, err := read(path.Join(podFiles, "namespace"))
	if err != nil {
		return "" // client-go goes on, too: all that is lost is a default
	}
	return strings.TrimSpace(string(namespace))
}

// asked is a configuration with what flags say of any user. client-go leaves that out
// where the ServiceAccount of a pod is used: what was to be tried as another user would
// be done with all rights that the pod has.
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
