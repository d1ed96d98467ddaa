package lynq

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// refForm says how people write references to objects.
const refForm = "KIND[.GROUP]/NAMESPACE/NAME, or KIND[.GROUP]/NAME where the kind has no namespaces"

// RefError says why a text names no object.
type RefError struct{ Text, Why string }

// Error implements error.
func (e *RefError) Error() string {
	return fmt.Sprintf("%q is not the name of an object: %s (write %s, such as Deployment.apps/shop/web)", e.Text, e.Why, refForm)
}

// ParseRef reads the format of Full. It returns a *RefError for any other text.
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

// Full returns Kind/Namespace/Name, or Kind/Name for cluster-scoped objects. The kind has a
// suffix .group, except for the core group. String is for people, and Full for programs.
func (r Ref) Full() string {
	if r.Namespace == "" {
		return r.GroupKind() + "/" + r.Name
	}
	return r.GroupKind() + "/" + r.Namespace + "/" + r.Name
}

// isKind reports whether s can be a kind, which is a DNS label with capitals.
func isKind(s string) bool { return naming.IsDNS1123Label(strings.ToLower(s)) }

// isObjectName reports whether s can be part of a URL's path. Kinds have no more in
// common, because names of roles have colons and capitals.
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

// HoldsData reports whether a deletion of the object loses more for good: the content of
// volumes or of a namespace, or all objects of a kind.
func (r Ref) HoldsData() bool {
	switch r.GroupKind() {
	case "PersistentVolumeClaim", "PersistentVolume", "Namespace", "CustomResourceDefinition.apiextensions.k8s.io":
		return true
	}
	return false
}
