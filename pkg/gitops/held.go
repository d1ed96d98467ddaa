package gitops

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/toll"
)

// heldIn returns the guard's data about an object in a file of the tree. When an object
// disappears, the target reads the policy from the object itself. So the policy comes from
// the tree's old text.
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

// documentOf returns the document of an object in a file. It returns nil if there is none,
// or if it can't read the file.
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
