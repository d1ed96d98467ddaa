package tracking

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// ContainerKey returns a key for a container. It is the name of a Namespace, or the group of a
// CustomResourceDefinition. Of returns the same keys for contents.
func ContainerKey(ref lynq.Ref) lynq.Ref {
	if ref.Kind == "Namespace" {
		return lynq.Ref{Kind: ref.Kind, Name: ref.Name}
	}
	_, group, _ := strings.Cut(ref.Name, ".")
	return lynq.Ref{Kind: ref.Kind, Group: group}
}

// ContainersOf returns the keys of the possible containers of an object.
func ContainersOf(ref lynq.Ref) [2]lynq.Ref {
	return [2]lynq.Ref{{Kind: "Namespace", Name: ref.Namespace}, {Kind: "CustomResourceDefinition", Group: ref.Group}}
}

// IsContainer reports whether the deletion of an object deletes others, as with a Namespace or
// a CustomResourceDefinition.
func IsContainer(ref lynq.Ref) bool {
	return ref.Group == "" && ref.Kind == "Namespace" ||
		ref.Group == "apiextensions.k8s.io" && ref.Kind == "CustomResourceDefinition"
}

// TakesAlong says what the deletion of an object deletes with it. It returns "" for an object
// that contains no others. A Project shows a Namespace, with the same uid.
func TakesAlong(ref lynq.Ref) string {
	switch {
	case ref.Group == "" && ref.Kind == "Namespace", ref.Group == "project.openshift.io" && ref.Kind == "Project":
		return "everything in it is deleted, too"
	case IsContainer(ref):
		return "all objects of its kind are deleted, too"
	}
	return ""
}

// NamespaceOf returns the Namespace that a cluster-scoped object of an extension may be. An
// extension can show Namespaces as its own kind, as OpenShift does with Projects.
func NamespaceOf(ref lynq.Ref) (lynq.Ref, bool) {
	return lynq.Ref{Kind: "Namespace", Name: ref.Name}, ref.Namespace == "" && !kinds.BuiltIn(ref.Group)
}
