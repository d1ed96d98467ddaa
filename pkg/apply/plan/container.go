package plan

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// EachDelete calls a function for every step that deletes an object.
func EachDelete(plans []Plan, each func(*NodePlan, *Step)) {
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

// ContainerKey is what objects in a container know of it: the name of a
// Namespace, the group of a kind.
func ContainerKey(ref lynq.Ref) lynq.Ref {
	if ref.Kind == "Namespace" {
		return lynq.Ref{Kind: ref.Kind, Name: ref.Name}
	}
	_, group, _ := strings.Cut(ref.Name, ".")
	return lynq.Ref{Kind: ref.Kind, Group: group}
}

// ContainersOf are the keys of what may contain an object.
func ContainersOf(ref lynq.Ref) [2]lynq.Ref {
	return [2]lynq.Ref{{Kind: "Namespace", Name: ref.Namespace}, {Kind: "CustomResourceDefinition", Group: ref.Group}}
}

// IsContainer tells whether deleting an object deletes others with it: a
// Namespace, and a CustomResourceDefinition.
func IsContainer(ref lynq.Ref) bool {
	return ref.Group == "" && ref.Kind == "Namespace" ||
		ref.Group == "apiextensions.k8s.io" && ref.Kind == "CustomResourceDefinition"
}
