package container

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Key names the container of an object as the objects in it do: by the name of a
// Namespace, or by the group of a kind.
func Key(ref lynq.Ref) lynq.Ref {
	if ref.Kind == "Namespace" {
		return lynq.Ref{Kind: ref.Kind, Name: ref.Name}
	}
	_, group, _ := strings.Cut(ref.Name, ".")
	return lynq.Ref{Kind: ref.Kind, Group: group}
}

// Of are the keys of what may contain an object.
func Of(ref lynq.Ref) [2]lynq.Ref {
	return [2]lynq.Ref{{Kind: "Namespace", Name: ref.Namespace}, {Kind: "CustomResourceDefinition", Group: ref.Group}}
}

// Is tells whether deleting an object deletes others with it: a
// Namespace, and a CustomResourceDefinition.
func Is(ref lynq.Ref) bool {
	return ref.Group == "" && ref.Kind == "Namespace" ||
		ref.Group == "apiextensions.k8s.io" && ref.Kind == "CustomResourceDefinition"
}
