package policy

import (
	"bytes"
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

// DeletionOf returns what a target does with an object that leaves the tree, as a deletion
// policy. own is set if each node has an Application or Kustomization of its own, which
// leaves with the node. For plain manifests, nobody knows the target, so an object is kept
// only if both would keep it.
//
// Without an Application of its own, an object leaves in the same way whether its node or
// its form drops it. With one, Argo CD asks for Delete=false instead of Prune=false when it
// deletes the Application. Flux asks for the same annotation in both cases.
func DeletionOf(doc *yaml.RNode, t Target, own bool) lynq.DeletionPolicy {
	annotations := doc.GetAnnotations(argoSyncOptions, fluxPrune)
	options := annotations[argoSyncOptions]
	argo := firstOption(options, "Prune") == "false"
	flux := strings.EqualFold(annotations[fluxPrune], fluxDisabled)
	dropped, gone := argo, argo
	switch t {
	case Argo:
		if own {
			gone = hasOption(options, "Delete=false") || isDefinition(doc)
		}
	case Flux:
		dropped, gone = flux, flux
	default:
		dropped, gone = argo && flux, argo && flux
	}
	switch {
	case dropped && gone:
		return lynq.DeleteRetain
	case dropped:
		return lynq.DeleteRetainOnApply
	case gone:
		return lynq.DeleteRetainOnDelete
	}
	return lynq.DeleteDelete
}

// CreatesOnce reports whether a target creates the object of a document, and never updates it.
func CreatesOnce(t Target, doc []byte) bool {
	if t != Flux || !bytes.Contains(doc, []byte(fluxSSA)) { // parsing is slow
		return false
	}
	o, err := yaml.Parse(string(doc))
	return err == nil && strings.EqualFold(o.GetAnnotations(fluxSSA)[fluxSSA], fluxIfNotPresent)
}

// DeletionLines returns the lines of a document that may keep its object. DeletionOf returns
// the same for documents of an object with the same lines, and lines cost no parsing.
func DeletionLines(doc []byte) string {
	var b strings.Builder
	for line := range bytes.Lines(doc) {
		if bytes.Contains(line, []byte("Prune=false")) || bytes.Contains(line, []byte("Delete=false")) || bytes.Contains(line, []byte(fluxPrune)) {
			b.Write(line)
		}
	}
	return b.String()
}

// hasOption reports whether a list of Argo CD has an option.
func hasOption(list, option string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(o string) bool { return strings.TrimSpace(o) == option })
}

// firstOption returns the value of an option in a list of Argo CD, or "". Argo CD prunes by
// the first one.
func firstOption(list, name string) string {
	for item := range strings.SplitSeq(list, ",") {
		if value, found := strings.CutPrefix(strings.TrimSpace(item), name+"="); found {
			return value
		}
	}
	return ""
}

// isDefinition reports whether a document is a CustomResourceDefinition. Argo CD never
// deletes one with its Application.
func isDefinition(doc *yaml.RNode) bool {
	group, _ := lynq.SplitAPIVersion(doc.GetApiVersion())
	return group == "apiextensions.k8s.io" && doc.GetKind() == "CustomResourceDefinition"
}
