package apply

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// eachDelete calls a function for every step that deletes an object.
func eachDelete(plans []Plan, each func(*NodePlan, *Step)) {
	for i := range plans {
		for j := range plans[i].Nodes {
			n := &plans[i].Nodes[j]
			for k := range n.Steps {
				if s := &n.Steps[k]; s.Action == ActionDelete {
					each(n, s)
				}
			}
		}
	}
}

// containerKey is what objects in a container know of it: the name of a
// Namespace, the group of a kind.
func containerKey(ref lynq.Ref) lynq.Ref {
	if ref.Kind == "Namespace" {
		return lynq.Ref{Kind: ref.Kind, Name: ref.Name}
	}
	_, group, _ := strings.Cut(ref.Name, ".")
	return lynq.Ref{Kind: ref.Kind, Group: group}
}

// container tells whether deleting an object deletes others with it: a
// Namespace, and a CustomResourceDefinition.
func container(ref lynq.Ref) bool {
	return ref.Group == "" && ref.Kind == "Namespace" ||
		ref.Group == "apiextensions.k8s.io" && ref.Kind == "CustomResourceDefinition"
}
