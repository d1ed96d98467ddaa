package tracking

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// tool is a tool that marks its own objects.
type tool uint8

const (
	fluxKustomize tool = iota
	fluxHelm
	argoByID
	argoByLabel
	argoByOwnLabel
	fleet
	rancher
	configSync
	olm
	crossplane
	kubeVela
	kro
	sveltos
	kyverno
	hnc
	tanka
	addonManager
	kapp
	cliUtils
	helm
)

// mark is a label or annotation of a tool.
type mark struct {
	tool  tool
	label bool
	key   string
	// value is the required value, "" for any.
	value string
	// claims is set if the mark names the owner. A takeover removes the other marks
	// together with it.
	claims bool
}

// marks returns all marks. A tool that uses another tool comes before it, because Fleet's
// objects have Helm's marks too.
//
// Some marks count only under conditions, see claims. For OLM and Rancher, marks without an
// owner's name count too, because cluster-wide objects may have no others.
//
// These sources document the marks. docs/applying.md has them for users:
//
//   - Flux: https://fluxcd.io/flux/components/kustomize/kustomizations/
//   - Argo CD, also its configurable label: https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/
//   - Fleet and Rancher: https://github.com/rancher/wrangler/blob/master/pkg/apply/desiredset_apply.go
//   - Config Sync: https://cloud.google.com/kubernetes-engine/config-sync/docs/reference/annotations-and-labels
//   - OLM: https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/lib/ownerutil/util.go
//   - Crossplane: https://github.com/crossplane/crossplane/blob/main/internal/xcrd/schemas.go
//   - KubeVela: https://github.com/kubevela/kubevela/blob/master/pkg/oam/labels.go
//   - kro: https://github.com/kubernetes-sigs/kro/blob/main/pkg/metadata/labels.go
//   - Sveltos: https://github.com/projectsveltos/libsveltos/blob/main/lib/deployer/utils.go
//   - Kyverno: https://kyverno.io/docs/policy-types/cluster-policy/generate/
//   - HNC: https://github.com/kubernetes-retired/hierarchical-namespaces/blob/master/docs/user-guide/how-to.md
//   - Tanka: https://github.com/grafana/tanka/blob/main/pkg/process/process.go
//   - addon-manager: https://github.com/kubernetes/kubernetes/tree/master/cluster/addons/addon-manager
//   - kapp: https://carvel.dev/kapp/docs/latest/state-namespace/
//   - cli-utils: https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/inventory/policy.go
//   - Helm, werf and nelm: https://helm.sh/docs/chart_best_practices/labels/
//
// Terraform, Pulumi, Skaffold and Timoni keep their state elsewhere, and mark nothing.
func marks() [58]mark {
	return [...]mark{
		{fluxKustomize, true, "kustomize.toolkit.fluxcd.io/name", "", true},
		{fluxKustomize, true, "kustomize.toolkit.fluxcd.io/namespace", "", false},
		{fluxHelm, true, "helm.toolkit.fluxcd.io/name", "", true},
		{fluxHelm, true, "helm.toolkit.fluxcd.io/namespace", "", false},
		{argoByID, false, "argocd.argoproj.io/tracking-id", "", true},
		{argoByID, false, "argocd.argoproj.io/installation-id", "", false},
		{argoByLabel, true, labelInstance, "", true},
		{argoByOwnLabel, true, "argocd.argoproj.io/instance", "", true},
		{argoByOwnLabel, true, "applications.argoproj.io/app-name", "", true},
		{fleet, false, "fleet.cattle.io/bundle-id", "", true},
		{fleet, true, "fleet.cattle.io/bundle-id", "", true},
		{rancher, true, "objectset.rio.cattle.io/hash", "", true},
		{rancher, false, "objectset.rio.cattle.io/id", "", true},
		{rancher, false, "objectset.rio.cattle.io/owner-gvk", "", false},
		{rancher, false, "objectset.rio.cattle.io/owner-name", "", true},
		{rancher, false, "objectset.rio.cattle.io/owner-namespace", "", false},
		{rancher, false, "objectset.rio.cattle.io/applied", "", false},
		{configSync, false, "configmanagement.gke.io/managed", "enabled", true},
		{configSync, false, configSyncID, "", false},
		{configSync, false, "configsync.gke.io/manager", "", false},
		{configSync, true, wellknown.LabelManagedBy, "configmanagement.gke.io", false},
		{olm, true, "olm.owner", "", true},
		{olm, true, "olm.owner.namespace", "", false},
		{olm, true, "olm.owner.kind", "", false},
		{olm, true, "olm.operatorframework.io/owner-name", "", true},
		{olm, true, "olm.operatorframework.io/owner-kind", "", false},
		{olm, true, "olm.managed", "true", true},
		{crossplane, true, "crossplane.io/composite", "", true},
		{crossplane, true, "crossplane.io/claim-name", "", true},
		{crossplane, true, "crossplane.io/claim-namespace", "", false},
		{kubeVela, true, "app.oam.dev/name", "", true},
		{kubeVela, true, "app.oam.dev/namespace", "", true},
		{kro, true, "kro.run/owned", "true", true},
		{kro, true, "kro.run/instance-name", "", false},
		{kro, true, "kro.run/instance-namespace", "", false},
		{kro, true, "kro.run/instance-id", "", false},
		{kro, true, wellknown.LabelManagedBy, "kro", false},
		{sveltos, true, sveltosName, "", true},
		{sveltos, true, "projectsveltos.io/reference-namespace", "", false},
		{sveltos, true, "projectsveltos.io/reference-kind", "", false},
		{sveltos, false, sveltosName, "", true},
		{sveltos, false, "projectsveltos.io/reference-namespace", "", false},
		{sveltos, false, "projectsveltos.io/reference-kind", "", false},
		{kyverno, true, "generate.kyverno.io/policy-name", "", true},
		{kyverno, true, "generate.kyverno.io/policy-namespace", "", false},
		{kyverno, true, "generate.kyverno.io/rule-name", "", false},
		{kyverno, true, wellknown.LabelManagedBy, "kyverno", false},
		{hnc, true, "hnc.x-k8s.io/inherited-from", "", true},
		{hnc, true, wellknown.LabelManagedBy, "hnc.x-k8s.io", false},
		{tanka, true, "tanka.dev/environment", "", true},
		{addonManager, true, "addonmanager.kubernetes.io/mode", "Reconcile", true},
		{kapp, true, "kapp.k14s.io/app", "", true},
		{kapp, true, "kapp.k14s.io/association", "", true}, // an app may have another label than the one before
		{kapp, false, "kapp.k14s.io/identity", "", false},
		{cliUtils, false, "config.k8s.io/owning-inventory", "", true},
		{helm, false, helmRelease, "", true},
		{helm, false, helmNamespace, "", false},
		{helm, true, wellknown.LabelManagedBy, "Helm", false},
	}
}

// These keys have a meaning for more than one mark.
const (
	labelInstance = "app.kubernetes.io/instance"
	sveltosName   = "projectsveltos.io/reference-name"
	configSyncID  = "configsync.gke.io/resource-id"
	helmRelease   = "meta.helm.sh/release-name"
	helmNamespace = "meta.helm.sh/release-namespace"
)

// Object is the part of an object that marks depend on.
type Object struct {
	Ref                 lynq.Ref
	Labels, Annotations map[string]string
	Managers            []metav1.ManagedFieldsEntry
}

// field returns the labels or the annotations, and the name of that field.
func (b *Object) field(m *mark) (map[string]string, string) {
	if m.label {
		return b.Labels, "labels"
	}
	return b.Annotations, "annotations"
}

// carries reports whether the object has a mark.
func (b *Object) carries(m *mark) bool {
	in, _ := b.field(m)
	v, there := in[m.key]
	return there && (m.value == "" || m.value == v)
}

// Owner returns the name of the object's owner and its tool, or "" if no mark claims the
// object.
func (b *Object) Owner() string {
	if len(b.Labels)+len(b.Annotations) == 0 {
		return ""
	}
	all := marks()
	for i := range all {
		if m := &all[i]; b.claims(m) {
			return b.name(m)
		}
	}
	return ""
}

// claims reports whether a mark exists and claims the object. A mark from a form doesn't
// count, because only lynq manages it.
func (b *Object) claims(m *mark) bool {
	in, field := b.field(m)
	value := in[m.key]
	if !m.claims || value == "" || !b.carries(m) {
		return false
	}
	switch m.tool {
	case argoByID:
		if !argoMeans(value, b.Ref) {
			return false
		}
	case argoByLabel:
		// Charts and users set this label too. It counts only if Argo CD itself set it.
		return b.managed(field, m.key, "argocd-controller", "argocd-application-controller")
	case configSync:
		if id := b.Annotations[configSyncID]; id != "" && id != configSyncMeans(b.Ref) {
			return false // somebody copied the annotation with a manifest
		}
	case helm:
		// Helm requires the label and the annotation. Without the label, Helm must be a
		// field manager.
		if b.Labels[wellknown.LabelManagedBy] != "Helm" && !slices.ContainsFunc(b.Managers, byHelm) {
			return false
		}
	}
	return !b.ours(field, m.key)
}

// byHelm reports whether Helm wrote an entry of managedFields.
func byHelm(e metav1.ManagedFieldsEntry) bool { return e.Manager == "helm" || e.Manager == "Helm" }

// name returns the owner that a claim names, in the words of its tool.
func (b *Object) name(m *mark) string {
	in, _ := b.field(m)
	value := in[m.key]
	switch m.tool {
	case fluxKustomize:
		return "Kustomization " + qualified(b.Labels["kustomize.toolkit.fluxcd.io/namespace"], value)
	case fluxHelm:
		return "HelmRelease " + qualified(b.Labels["helm.toolkit.fluxcd.io/namespace"], value)
	case argoByID:
		value, _, _ = strings.Cut(value, ":")
		return "Application " + value
	case argoByLabel, argoByOwnLabel:
		return "Application " + value
	case fleet:
		return "Fleet bundle " + value
	case rancher:
		return b.rancherSet(value)
	case configSync:
		return strings.TrimSpace("Config Sync " + b.Annotations["configsync.gke.io/manager"])
	case olm:
		return b.olmOwner()
	case crossplane:
		if m.key == "crossplane.io/claim-name" {
			return "Crossplane claim " + qualified(b.Labels["crossplane.io/claim-namespace"], value)
		}
		return "Crossplane composite " + value
	case kubeVela, kro, sveltos, kyverno, hnc, tanka, addonManager:
		return b.simpleOwner(m.tool, value)
	case kapp:
		return "kapp app " + value
	case cliUtils:
		return "inventory " + value
	}
	return "Helm release " + qualified(b.Annotations[helmNamespace], value)
}

// simpleOwner returns the owner of tools whose marks hold under no further condition.
func (b *Object) simpleOwner(t tool, value string) string {
	switch t {
	case kubeVela:
		return strings.TrimSpace("KubeVela application " + qualified(b.Labels["app.oam.dev/namespace"], b.Labels["app.oam.dev/name"]))
	case kro:
		return strings.TrimSpace("kro instance " + qualified(b.Labels["kro.run/instance-namespace"], b.Labels["kro.run/instance-name"]))
	case sveltos:
		return "Sveltos, from " + value
	case kyverno:
		return "Kyverno policy " + qualified(b.Labels["generate.kyverno.io/policy-namespace"], value)
	case hnc:
		return "HNC, from namespace " + value
	case tanka:
		return "Tanka environment " + value
	}
	return "addon-manager"
}

// rancherSet returns the owner of a set of objects from Rancher, Fleet or k3s.
func (b *Object) rancherSet(value string) string {
	if owner := b.Annotations["objectset.rio.cattle.io/owner-name"]; owner != "" {
		_, kind, _ := strings.Cut(b.Annotations["objectset.rio.cattle.io/owner-gvk"], "Kind=")
		return strings.TrimSpace(kind + " " + qualified(b.Annotations["objectset.rio.cattle.io/owner-namespace"], owner))
	}
	if id := b.Annotations["objectset.rio.cattle.io/id"]; id != "" {
		value = id
	}
	return "object set " + value
}

// olmOwner returns the owner that OLM names. Some of its objects name none.
func (b *Object) olmOwner() string {
	for _, keys := range [][3]string{
		{"olm.owner", "olm.owner.kind", "olm.owner.namespace"},
		{"olm.operatorframework.io/owner-name", "olm.operatorframework.io/owner-kind", ""},
	} {
		if name := b.Labels[keys[0]]; name != "" {
			return strings.TrimSpace("OLM " + b.Labels[keys[1]] + " " + qualified(b.Labels[keys[2]], name))
		}
	}
	return "OLM"
}

// managed reports whether one of these managers manages a label or annotation.
func (b *Object) managed(field, key string, managers ...string) bool {
	return slices.ContainsFunc(b.Managers, func(e metav1.ManagedFieldsEntry) bool {
		return slices.Contains(managers, e.Manager) && manages(&e, field, key)
	})
}

// ours reports whether only lynq manages a label or annotation.
func (b *Object) ours(field, key string) bool {
	ours := false
	for i := range b.Managers {
		if e := &b.Managers[i]; manages(e, field, key) {
			if e.Manager != wellknown.FieldManager {
				return false
			}
			ours = true
		}
	}
	return ours
}

// manages reports whether an entry of managedFields has a label or annotation. An
// unreadable entry has none, so it never makes a mark ours.
func manages(e *metav1.ManagedFieldsEntry, field, key string) bool {
	set := fieldpath.NewSet()
	if raw := e.FieldsV1.GetRawReader(); raw.Size() == 0 || set.FromJSON(raw) != nil {
		return false
	}
	return set.Has(fieldpath.MakePathOrDie("metadata", field, key))
}

// Removable returns the labels or annotations that a takeover must remove.
func (b *Object) Removable(label bool) []string {
	all := marks()
	var keys []string
	for i := range all {
		m := &all[i]
		if m.label == label && b.carries(m) && b.holds(m.tool) && !slices.Contains(keys, m.key) {
			keys = append(keys, m.key)
		}
	}
	return keys
}

// holds reports whether a tool owns the object.
func (b *Object) holds(t tool) bool {
	all := marks()
	return slices.ContainsFunc(all[:], func(m mark) bool { return m.tool == t && b.claims(&m) })
}

func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

const argoTrackingParts = 3

// argoMeans reports whether a tracking id of Argo CD (app:group/kind:namespace/name) names
// this object. A copied annotation names another object, and Argo CD ignores it too. An id
// that lynqctl can't parse counts as a claim.
func argoMeans(id string, ref lynq.Ref) bool {
	parts := strings.SplitN(id, ":", argoTrackingParts)
	if len(parts) < argoTrackingParts {
		return true
	}
	namespace, name, ok := strings.Cut(parts[2], "/")
	if !ok {
		return true
	}
	// The id of a cluster-scoped object has the namespace of the Application.
	return parts[1] == ref.Group+"/"+ref.Kind && name == ref.Name &&
		(ref.Namespace == "" || namespace == ref.Namespace)
}

// configSyncMeans returns the resource id of an object in Config Sync,
// group_kind_namespace_name. Config Sync ignores any other id.
func configSyncMeans(ref lynq.Ref) string {
	parts := []string{ref.Group, strings.ToLower(ref.Kind), ref.Namespace, ref.Name}
	if ref.Namespace == "" {
		parts = slices.Delete(parts, 2, 3)
	}
	return strings.Join(parts, "_")
}
