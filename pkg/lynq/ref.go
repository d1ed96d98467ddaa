package lynq

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// refForm is how people write references to objects.
const refForm = "KIND[.GROUP]/NAMESPACE/NAME, or KIND[.GROUP]/NAME where the kind has no namespaces"

// RefError says why a text names no object.
type RefError struct{ Text, Why string }

// Error implements error.
func (e *RefError) Error() string {
	return fmt.Sprintf("%q is not the name of an object: %s (write %s, such as Deployment.apps/shop/web)", e.Text, e.Why, refForm)
}

// ParseRef reads what Full writes: Kind/Namespace/Name, or Kind/Name for
// cluster-scoped objects, with .group behind kinds that are not of the core
// group. The error is a *RefError.
func ParseRef(s string) (Ref, error) {
	parts := strings.Split(s, "/")
	switch {
	case len(parts) < 2:
		return Ref{}, &RefError{s, "it has no '/'"}
	case len(parts) > 3:
		return Ref{}, &RefError{s, "it has more than two '/'"}
	}
	r := Ref{Name: parts[len(parts)-1]}
	kind, group, grouped := strings.Cut(parts[0], ".")
	r.Kind, r.Group = kind, group
	if len(parts) == 3 {
		r.Namespace = parts[1]
	}
	var why string
	switch {
	case r.Kind == "":
		why = "the kind is missing"
	case !isKind(r.Kind):
		why = fmt.Sprintf("%q is not a kind", r.Kind)
	case grouped && !naming.IsDNS1123Subdomain(r.Group):
		why = fmt.Sprintf("%q is not an API group", r.Group)
	case len(parts) == 3 && r.Namespace == "":
		why = "the namespace is missing"
	case len(parts) == 3 && !naming.IsDNS1123Label(r.Namespace):
		why = fmt.Sprintf("%q is not a namespace", r.Namespace)
	case r.Name == "":
		why = "the name is missing"
	case !isObjectName(r.Name):
		why = fmt.Sprintf("%q is not a valid name of an object", r.Name)
	default:
		return r, nil
	}
	return Ref{}, &RefError{s, why}
}

// Full is Kind/Namespace/Name, or Kind/Name for cluster-scoped objects, with
// .group behind kinds that are not of the core group: String names an object to
// people, Full to programs.
func (r Ref) Full() string {
	if r.Namespace == "" {
		return r.GroupKind() + "/" + r.Name
	}
	return r.GroupKind() + "/" + r.Namespace + "/" + r.Name
}

// isKind tells whether s can be a kind: a DNS label but for its capitals.
func isKind(s string) bool { return naming.IsDNS1123Label(strings.ToLower(s)) }

// isObjectName tells whether s can be part of a URL's path, which is all that
// kinds have in common: names of roles have colons and capitals.
func isObjectName(s string) bool {
	if s == "." || s == ".." || len(s) > 253 {
		return false
	}
	for _, c := range s {
		if c == '%' || c > unicode.MaxASCII || !unicode.IsGraphic(c) || unicode.IsSpace(c) {
			return false
		}
	}
	return true
}

// HoldsData tells whether more than an object goes with it, for good: what volumes
// hold, what is in a namespace, all objects of a kind.
func (r Ref) HoldsData() bool {
	switch r.GroupKind() {
	case "PersistentVolumeClaim", "PersistentVolume", "Namespace", "CustomResourceDefinition.apiextensions.k8s.io":
		return true
	}
	return false
}
