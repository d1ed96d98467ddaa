package apiserver

import (
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// kind is a kind that the server serves.
type kind struct {
	group, version, name, plural string
	namespaced                   bool
	view                         *View // nil for most
}

func (k kind) apiVersion() string { return strings.TrimPrefix(k.group+"/"+k.version, "/") }

// builtIn returns the kinds of every cluster that lynqctl and its tests use.
func builtIn() []kind {
	return []kind{
		{"", "v1", "ConfigMap", "configmaps", true, nil},
		{"", "v1", "Secret", "secrets", true, nil},
		{"", "v1", "ServiceAccount", "serviceaccounts", true, nil},
		{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", true, nil},
		{"", "v1", "Pod", "pods", true, nil},
		{"", "v1", "Event", "events", true, nil},
		{"", "v1", "Namespace", "namespaces", false, nil},
		{"apps", "v1", "StatefulSet", "statefulsets", true, nil},
		{"batch", "v1", "Job", "jobs", true, nil},
		{"coordination.k8s.io", "v1", "Lease", "leases", true, nil},
		{"apiextensions.k8s.io", "v1", definitionKind, "customresourcedefinitions", false, nil},
		{"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false, nil},
		{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", false, nil},
		{"operator.lynq.sh", "v1", "LynqNode", "lynqnodes", true, nil},
	}
}

const definitionKind = "CustomResourceDefinition"

// kinds returns the current kinds, including those of definitions.
func (s *Server) kinds() []kind {
	if s.served == nil {
		s.served = slices.Clone(s.builtIn)
		for _, o := range s.sorted[groupKind{"apiextensions.k8s.io", definitionKind}] {
			if k, served := defined(o); served {
				s.served = append(s.served, k)
			}
		}
	}
	return s.served
}

// defined returns the kind of a definition, and whether its first version is served.
func defined(o *stored) (kind, bool) {
	text := func(path ...string) string {
		s, _, _ := unstructured.NestedString(o.Object, path...)
		return s
	}
	versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
	if len(versions) == 0 {
		return kind{}, false
	}
	version, _ := versions[0].(map[string]any)
	name, _ := version["name"].(string)
	return kind{text("spec", "group"), name, text("spec", "names", "kind"), text("spec", "names", "plural"), text("spec", "scope") == "Namespaced", nil}, version["served"] == true
}

// find returns the kind of a path.
func (s *Server) find(group, version, plural string) (kind, bool) {
	for _, k := range s.kinds() {
		if k.group == group && k.version == version && k.plural == plural {
			return k, true
		}
	}
	return kind{}, false
}

// discovery lists the groups of /api, which is the core group, or of /apis. It caches the
// answer until a definition changes.
func (s *Server) discovery(core bool) (text []byte, err error) {
	if s.catalogs[core] == nil {
		list := s.groups(core)
		if text, err = list.Marshal(); err == nil {
			s.catalogs[core], err = enveloped("apidiscovery.k8s.io/v2", "APIGroupDiscoveryList", text)
		}
	}
	return s.catalogs[core], err
}

func (s *Server) groups(core bool) *apidiscovery.APIGroupDiscoveryList {
	groups := map[string][]apidiscovery.APIResourceDiscovery{}
	versions := map[string]string{}
	var order []string
	for _, k := range s.kinds() {
		if (k.group == "") != core {
			continue
		}
		if !slices.Contains(order, k.group) {
			order = append(order, k.group)
		}
		versions[k.group] = k.version
		groups[k.group] = append(groups[k.group], discovered(k))
	}
	list := &apidiscovery.APIGroupDiscoveryList{}
	for _, group := range order {
		list.Items = append(list.Items, apidiscovery.APIGroupDiscovery{
			ObjectMeta: metav1.ObjectMeta{Name: group},
			Versions:   []apidiscovery.APIVersionDiscovery{{Version: versions[group], Resources: groups[group], Freshness: apidiscovery.DiscoveryFreshnessCurrent}},
		})
	}
	return list
}

func discovered(k kind) apidiscovery.APIResourceDiscovery {
	scope := apidiscovery.ScopeCluster
	if k.namespaced {
		scope = apidiscovery.ScopeNamespace
	}
	return apidiscovery.APIResourceDiscovery{
		Resource: k.plural, SingularResource: strings.ToLower(k.name), Scope: scope,
		ResponseKind: &metav1.GroupVersionKind{Group: k.group, Version: k.version, Kind: k.name},
		Verbs:        []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
	}
}
