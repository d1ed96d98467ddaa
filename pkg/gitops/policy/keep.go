package policy

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Undeleted is the annotation by which a target keeps an object that the tree drops, or
// that loses its Application; none where no target is known.
func Undeleted(t Target, annotations map[string]string) (key, value string) {
	switch t {
	case Argo:
		return argoSyncOptions, withOptions(annotations[argoSyncOptions], "Prune=false", "Delete=false")
	case Flux:
		return fluxPrune, fluxDisabled
	}
	return "", ""
}

// withOptions puts options of Argo CD into a list, in the place of those of the same
// name: the first one counts.
func withOptions(list string, options ...string) string {
	var all []string
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		name, _, _ := strings.Cut(item, "=")
		if item != "" && !slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(o, name+"=") }) {
			all = append(all, item)
		}
	}
	return strings.Join(append(all, options...), ",")
}

// Unprotected tells whether a target deletes an object that the tree drops although the
// tree says otherwise: Flux looks at the object in the cluster, which never gets the
// annotation where it is applied only once.
func Unprotected(t Target, doc []byte) bool {
	o, err := yaml.Parse(string(doc))
	if err != nil || t != Flux {
		return false
	}
	annotations := o.GetAnnotations()
	kept := annotations[wellknown.AnnotationDeletionPolicy] != string(lynq.DeleteDelete) // from the first on
	return strings.EqualFold(annotations[fluxSSA], fluxIfNotPresent) && !kept
}

// Keeps tells whether a target leaves an object alone that the tree no longer has.
// Nobody knows who applies plain manifests: there the annotation of either target counts.
func Keeps(doc *yaml.RNode, t Target) bool {
	annotations := doc.GetAnnotations(argoSyncOptions, fluxPrune)
	options := strings.Split(annotations[argoSyncOptions], ",")
	argo := slices.ContainsFunc(options, func(o string) bool { return strings.TrimSpace(o) == "Prune=false" })
	flux := strings.EqualFold(annotations[fluxPrune], fluxDisabled)
	switch t {
	case Argo:
		return argo
	case Flux:
		return flux
	}
	return argo || flux
}
