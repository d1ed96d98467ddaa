package plan

import (
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// Provides returns the key of the namespace or kind that an object provides, or "".
func Provides(o *Object) string {
	switch {
	case o.Group == "" && o.Kind == "Namespace":
		return "namespace/" + o.Name
	case o.Group == "apiextensions.k8s.io" && o.Kind == "CustomResourceDefinition":
		group, kind := definedKind(o.Body)
		return "kind/" + lynq.Ref{Group: group, Kind: kind}.GroupKind()
	}
	return ""
}

// Needs returns the keys that an object needs. Provides returns the same keys.
func Needs(o *Object) []string {
	return []string{"namespace/" + o.Namespace, "kind/" + o.GroupKind()}
}

// definedKind reads the kind that a CustomResourceDefinition defines.
func definedKind(b manifest.Body) (group, kind string) {
	var crd struct {
		Spec struct {
			Group string `json:"group"`
			Names struct {
				Kind string `json:"kind"`
			} `json:"names"`
		} `json:"spec"`
	}
	if err := utiljson.Unmarshal(b, &crd); err != nil {
		return "", ""
	}
	return crd.Spec.Group, crd.Spec.Names.Kind
}
