package tracking

import (
	"path"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// controllersOwn describes objects that a controller creates in namespaces by itself, and
// creates again after a deletion.
type controllersOwn struct {
	kinds []string // in the format of Ref.GroupKind
	// An object must match all fields that are set below.
	names      []string // patterns of path.Match, one of which must match
	label      string   // a required label, with any value
	annotation string   // a required annotation, with one of values
	values     []string
	group      string // the cluster must serve this group, because users choose names such as "deployer" on other clusters
}

// A cluster that serves the first group is OpenShift. One that serves the second has
// OpenShift Pipelines.
const (
	openShift          = "project.openshift.io"
	openShiftPipelines = "operator.tekton.dev"
)

const roleBinding = "RoleBinding.rbac.authorization.k8s.io"

// controllersOwns returns the objects that don't count when lynqctl checks whether a
// namespace is empty. docs/deleting.md has the same table for users.
func controllersOwns() []controllersOwn {
	const (
		configMap, serviceAccount, secret = "ConfigMap", "ServiceAccount", "Secret"
		token                             = "kubernetes.io/service-account.name"                        //nolint:gosec // an annotation
		pull                              = "openshift.io/internal-registry-auth-token.service-account" //nolint:gosec // an annotation
	)
	return []controllersOwn{
		// Kubernetes: the controller manager's root-ca-cert-publisher, serviceaccount
		// and, until 1.24, its token controller.
		{kinds: []string{configMap}, names: []string{"kube-root-ca.crt"}},
		{kinds: []string{serviceAccount}, names: []string{"default"}},
		{kinds: []string{secret}, annotation: token, values: []string{"default"}},
		// OpenShift: openshift-controller-manager (service accounts, pull secrets,
		// default-rolebindings) and the service CA's publisher.
		{group: openShift, kinds: []string{configMap}, names: []string{"openshift-service-ca.crt"}},
		{group: openShift, kinds: []string{serviceAccount}, names: []string{"builder", "deployer"}},
		{group: openShift, kinds: []string{secret}, annotation: token, values: []string{"builder", "deployer"}},
		{group: openShift, kinds: []string{secret}, annotation: pull, values: []string{"default", "builder", "deployer"}},
		{group: openShift, kinds: []string{roleBinding}, names: []string{"system:deployers", "system:image-builders", "system:image-pullers"}},
		// OpenShift Pipelines: its operator's RBAC reconciler.
		{group: openShiftPipelines, kinds: []string{configMap}, names: []string{"config-service-cabundle", "config-trusted-cabundle"}},
		{group: openShiftPipelines, kinds: []string{serviceAccount}, names: []string{"pipeline"}},
		{group: openShiftPipelines, kinds: []string{secret}, annotation: token, values: []string{"pipeline"}},
		{group: openShiftPipelines, kinds: []string{secret}, annotation: pull, values: []string{"pipeline"}},
		{group: openShiftPipelines, kinds: []string{roleBinding}, names: []string{"openshift-pipelines-edit", "pipelines-scc-rolebinding"}},
		// Operator Lifecycle Manager: copies of operators that are installed for all
		// namespaces.
		{kinds: []string{"ClusterServiceVersion.operators.coreos.com"}, label: "olm.copiedFrom"},
		// Istio: istiod's namespace controller. (Linkerd creates nothing in namespaces.)
		{kinds: []string{configMap}, names: []string{"istio-ca-root-cert", "istio-ca-crl"}},
		// Rancher: bindings of a project's members, by the label of both generations,
		// and the quotas and limits of a project.
		{kinds: []string{roleBinding}, label: "authz.cluster.cattle.io/rtb-owner-updated"},
		{kinds: []string{roleBinding}, label: "authz.cluster.cattle.io/rtb-owner"},
		{kinds: []string{"ResourceQuota", "LimitRange"}, label: "resourcequota.management.cattle.io/default-resource-quota"},
	}
}

func (c *controllersOwn) matches(ref lynq.Ref, m *metav1.PartialObjectMetadata) bool {
	fits := func(pattern string) bool {
		matched, err := path.Match(pattern, ref.Name)
		return err == nil && matched
	}
	_, labelled := m.Labels[c.label]
	value, annotated := m.Annotations[c.annotation]
	return slices.Contains(c.kinds, ref.GroupKind()) &&
		(c.names == nil || slices.ContainsFunc(c.names, fits)) &&
		(c.label == "" || labelled) &&
		(c.annotation == "" || annotated && slices.Contains(c.values, value))
}

// Passing reports whether a kind's objects come and vanish by themselves, or only show
// others, such as the Endpoints of a Service.
func Passing(r lynq.APIResource) bool {
	switch r.Group {
	case "":
		return r.Kind == "Event" || r.Kind == "Endpoints"
	case "events.k8s.io":
		return r.Kind == "Event"
	case "authorization.openshift.io": // they mirror rbac.authorization.k8s.io
		return r.Kind == "Role" || r.Kind == "RoleBinding"
	case "packages.operators.coreos.com": // a catalog shows them in every namespace
		return r.Kind == "PackageManifest"
	case "metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io":
		return true
	}
	return false
}

// Contents finds the objects that Kubernetes and controllers create in a new namespace.
type Contents struct {
	namespaced map[string]bool // whether a kind has namespaces, in the format of GroupKind
	tables     []controllersOwn
	more       []lynq.NamespaceDefault // the hub's own list
}

// NewContents returns Contents for the kinds of a cluster. more is the hub's own list.
func NewContents(kinds []lynq.APIResource, more []lynq.NamespaceDefault) *Contents {
	c := &Contents{namespaced: map[string]bool{}, more: more}
	groups := map[string]bool{}
	for _, r := range kinds {
		c.namespaced[lynq.Ref{Group: r.Group, Kind: r.Kind}.GroupKind()] = r.Namespaced
		groups[r.Group] = true
	}
	c.tables = slices.DeleteFunc(controllersOwns(), func(t controllersOwn) bool { return t.group != "" && !groups[t.group] })
	return c
}

// ComesWithNamespace reports whether nobody put an object into its namespace. That is true
// if another object in the namespace owns it, or if a controller creates it in every
// namespace. It isn't true for objects with a cluster-scoped owner, because that owner
// outlives the namespace.
func (c *Contents) ComesWithNamespace(ref lynq.Ref, m *metav1.PartialObjectMetadata) bool {
	inside := func(owner metav1.OwnerReference) bool {
		group, _ := lynq.SplitAPIVersion(owner.APIVersion)
		return c.namespaced[lynq.Ref{Group: group, Kind: owner.Kind}.GroupKind()]
	}
	return slices.ContainsFunc(m.OwnerReferences, inside) ||
		slices.ContainsFunc(c.tables, func(t controllersOwn) bool { return t.matches(ref, m) }) ||
		slices.ContainsFunc(c.more, func(d lynq.NamespaceDefault) bool { return d.Matches(ref) })
}
