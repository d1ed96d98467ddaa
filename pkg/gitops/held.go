package gitops

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// heldIn is what the guard knows of an object in a file of the tree. The target reads
// the policy of an object that disappears from the object itself: the tree's old text
// says what that is.
func heldIn(content []byte, key ObjectKey, t Target) lynq.Held {
	h := lynq.Held{Ref: key.Ref, ID: key.ID, Data: key.HoldsData()}
	doc := documentOf(content, key.Ref)
	if doc == nil {
		return h
	}
	h.Retained = retained(doc, t)
	h.Data = h.Data || deletesClaims(key.Ref, doc)
	return h
}

// documentOf is the document of a file that has an object, nil where none does or the
// file cannot be read.
func documentOf(content []byte, ref lynq.Ref) *yaml.RNode {
	for _, text := range documents(content) {
		doc, err := yaml.Parse(string(text))
		if err != nil {
			continue
		}
		group, _ := lynq.SplitAPIVersion(doc.GetApiVersion())
		if ref == (lynq.Ref{Group: group, Kind: doc.GetKind(), Namespace: doc.GetNamespace(), Name: doc.GetName()}) {
			return doc
		}
	}
	return nil
}

// retained tells whether a target leaves an object alone that the tree no longer has.
// Nobody knows who applies plain manifests: there the annotation of either target counts.
func retained(doc *yaml.RNode, t Target) bool {
	annotations := doc.GetAnnotations(argoSyncOptions, fluxPrune)
	options := strings.Split(annotations[argoSyncOptions], ",")
	argo := slices.ContainsFunc(options, func(o string) bool { return strings.TrimSpace(o) == "Prune=false" })
	flux := strings.EqualFold(annotations[fluxPrune], fluxDisabled)
	switch t {
	case TargetArgo:
		return argo
	case TargetFlux:
		return flux
	}
	return argo || flux
}

// deletesClaims tells whether the claims of a StatefulSet are deleted with it.
func deletesClaims(ref lynq.Ref, doc *yaml.RNode) bool {
	if ref.GroupKind() != "StatefulSet.apps" {
		return false
	}
	policy, err := doc.GetString("spec.persistentVolumeClaimRetentionPolicy.whenDeleted")
	return err == nil && policy == "Delete"
}
