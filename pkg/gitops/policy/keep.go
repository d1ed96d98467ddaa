package policy

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Undeleted returns the annotation that makes a target keep an object after the tree or
// its Application drops it. It returns none for an unknown target.
func Undeleted(t Target, annotations map[string]string) (key, value string) {
	switch t {
	case Argo:
		return argoSyncOptions, withOptions(annotations[argoSyncOptions], "Prune=false", "Delete=false")
	case Flux:
		return fluxPrune, fluxDisabled
	}
	return "", ""
}

// withOptions adds options of Argo CD to a list. It replaces options with the same name,
// because Argo CD uses the first one.
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

// Unprotected reports whether a target deletes a dropped object even though the tree says
// otherwise. Flux reads the annotation from the cluster. An object that Flux applies only
// once never gets the annotation there.
func Unprotected(t Target, doc []byte) bool {
	o, err := yaml.Parse(string(doc))
	if err != nil || t != Flux {
		return false
	}
	annotations := o.GetAnnotations()
	kept := annotations[wellknown.AnnotationDeletionPolicy] != string(lynq.DeleteDelete) // the first apply included the annotation
	return strings.EqualFold(annotations[fluxSSA], fluxIfNotPresent) && !kept
}

// Keeps reports whether a target keeps an object that the tree no longer has. For plain
// manifests, nobody knows the target, so the annotation of either counts.
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
