package gitops

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/toll"
)

// heldIn is what the guard knows of an object in a file of the tree. The target reads
// the policy of an object that disappears from the object itself: the tree's old text
// says what that is.
func heldIn(content []byte, key index.ObjectKey, t policy.Target) toll.Held {
	h := toll.Held{Ref: key.Ref, ID: key.ID, Data: key.Data || key.HoldsData()}
	doc := documentOf(content, key.Ref)
	if doc == nil {
		return h
	}
	h.Retained = policy.Keeps(doc, t)
	fields, err := doc.Map()
	h.Data = h.Data || err == nil && lynq.TakesClaims(key.Ref, fields)
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
