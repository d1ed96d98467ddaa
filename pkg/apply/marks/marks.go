package marks

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// tool is one that says by marks on objects which are its own.
type tool uint8

const (
	fluxKustomize tool = iota
	fluxHelm
	argoByID
	argoByLabel
	fleet
	rancher
	configSync
	olm
	crossplane
	kapp
	cliUtils
	helm
)

// mark is a label or annotation of a tool.
type mark struct {
	tool  tool
	label bool
	key   string
	// value that it has to have, "" for any.
	value string
	// claims: it says whose the object is. The others go with it when the object is
	// taken over.
	claims bool
}

// marks are all of them. Tools that work by means of others come first: what Fleet
// installs has the marks of Helm too.
//
// Some marks alone say nothing, see marked.claims. Of OLM and Rancher also those count
// that name no owner: on what they install cluster-wide there may be no others.
func marks() [35]mark {
	return [...]mark{
		{fluxKustomize, true, "kustomize.toolkit.fluxcd.io/name", "", true},
		{fluxKustomize, true, "kustomize.toolkit.fluxcd.io/namespace", "", false},
		{fluxHelm, true, "helm.toolkit.fluxcd.io/name", "", true},
		{fluxHelm, true, "helm.toolkit.fluxcd.io/namespace", "", false},
		{argoByID, false, "argocd.argoproj.io/tracking-id", "", true},
		{argoByID, false, "argocd.argoproj.io/installation-id", "", false},
		{argoByLabel, true, labelInstance, "", true},
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
		{kapp, true, "kapp.k14s.io/app", "", true},
		{kapp, true, "kapp.k14s.io/association", "", false},
		{kapp, false, "kapp.k14s.io/identity", "", false},
		{cliUtils, false, "config.k8s.io/owning-inventory", "", true},
		{helm, false, helmRelease, "", true},
		{helm, false, helmNamespace, "", false},
		{helm, true, wellknown.LabelManagedBy, "Helm", false},
	}
}

// Keys that are looked at for more than one mark.
const (
	labelInstance = "app.kubernetes.io/instance"
	configSyncID  = "configsync.gke.io/resource-id"
	helmRelease   = "meta.helm.sh/release-name"
	helmNamespace = "meta.helm.sh/release-namespace"
)

// Object is an object as far as marks tell whose it is.
type Object struct {
	Ref                 lynq.Ref
	Labels, Annotations map[string]string
	Managers            []metav1.ManagedFieldsEntry
}

// field is labels or annotations, and its name.
func (b *Object) field(m *mark) (map[string]string, string) {
	if m.label {
		return b.Labels, "labels"
	}
	return b.Annotations, "annotations"
}

// carries tells whether the object has a mark.
func (b *Object) carries(m *mark) bool {
	in, _ := b.field(m)
	v, there := in[m.key]
	return there && (m.value == "" || m.value == v)
}

// Owner names what of which tool has the object, "" where no mark says that one
// does.
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

// claims tells whether a mark is there and says whose the object is. What a form
// sets, so that only lynq manages it, does not.
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
		// Charts and people set this label too. It is Argo CD's mark where Argo CD
		// itself set it.
		return b.managed(field, m.key, "argocd-controller", "argocd-application-controller")
	case configSync:
		if id := b.Annotations[configSyncID]; id != "" && id != configSyncMeans(b.Ref) {
			return false // copied along with a manifest
		}
	case helm:
		// Helm itself asks for both; without the label, that it wrote the object.
		if b.Labels[wellknown.LabelManagedBy] != "Helm" && !slices.ContainsFunc(b.Managers, byHelm) {
			return false
		}
	}
	return !b.ours(field, m.key)
}

// byHelm tells whether an entry of managedFields is Helm's.
func byHelm(e metav1.ManagedFieldsEntry) bool { return e.Manager == "helm" || e.Manager == "Helm" }

// name is what a claim says, in the words of its tool.
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
	case argoByLabel:
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
	case kapp:
		return "kapp app " + value
	case cliUtils:
		return "inventory " + value
	}
	return "Helm release " + qualified(b.Annotations[helmNamespace], value)
}

// rancherSet is the owner of a set of objects as Rancher, Fleet and k3s apply them.
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

// olmOwner is the owner that OLM names, which it does not on all that it manages.
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

// managed tells whether one of these managers manages a label or annotation.
func (b *Object) managed(field, key string, managers ...string) bool {
	return slices.ContainsFunc(b.Managers, func(e metav1.ManagedFieldsEntry) bool {
		return slices.Contains(managers, e.Manager) && manages(&e, field, key)
	})
}

// ours tells whether lynq manages a label or annotation, and nothing else does.
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

// manages tells whether an entry has a label or annotation. One that cannot be read
// has none: nothing is ours by that.
func manages(e *metav1.ManagedFieldsEntry, field, key string) bool {
	set := fieldpath.NewSet()
	if raw := e.FieldsV1.GetRawReader(); raw.Size() == 0 || set.FromJSON(raw) != nil {
		return false
	}
	return set.Has(fieldpath.MakePathOrDie("metadata", field, key))
}

// Removable are the labels or annotations by which tools have the object.
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

// holds tells whether a tool has the object.
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

// argoMeans tells whether a tracking id of Argo CD, app:group/kind:namespace/name,
// is about this object. An annotation that was copied along with a manifest
// names another one, and Argo CD does not heed it either. What cannot be
// understood counts as a claim.
func argoMeans(id string, ref lynq.Ref) bool {
	parts := strings.SplitN(id, ":", argoTrackingParts)
	if len(parts) < argoTrackingParts {
		return true
	}
	namespace, name, ok := strings.Cut(parts[2], "/")
	if !ok {
		return true
	}
	// Of a cluster-scoped object the id names the application's namespace.
	return parts[1] == ref.Group+"/"+ref.Kind && name == ref.Name &&
		(ref.Namespace == "" || namespace == ref.Namespace)
}

// configSyncMeans is the resource id that Config Sync gives an object,
// group_kind_namespace_name. It does not heed another one.
func configSyncMeans(ref lynq.Ref) string {
	parts := []string{ref.Group, strings.ToLower(ref.Kind), ref.Namespace, ref.Name}
	if ref.Namespace == "" {
		parts = slices.Delete(parts, 2, 3)
	}
	return strings.Join(parts, "_")
}
