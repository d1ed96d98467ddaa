package plan

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// ScopeError means that an object can't exist, because it has a namespace and its kind has
// none, or vice versa.
type ScopeError struct {
	Object lynq.Ref
	// Namespaced says whether the server serves the kind with namespaces.
	Namespaced bool
}

// Error implements error.
func (e *ScopeError) Error() string {
	if e.Namespaced {
		return fmt.Sprintf("%s is rendered without a namespace, but kind %s has namespaces in the cluster (give the CustomResourceDefinition in your files the same scope)",
			e.Object, e.Object.GroupKind())
	}
	return fmt.Sprintf("%s is rendered into a namespace, but kind %s has no namespaces in the cluster (apply again now that the server serves it, or pass its CustomResourceDefinition with -f)",
		e.Object, e.Object.GroupKind())
}

// Impossible says why a recorded object can't exist.
func (e *ScopeError) Impossible() string {
	if e.Namespaced {
		return "it can't exist: it is recorded without a namespace, and its kind has namespaces"
	}
	return "it can't exist: it is recorded in a namespace, and its kind has none"
}

// SameScope reports whether an object has a namespace exactly if its kind does.
func SameScope(r lynq.APIResource, ref lynq.Ref) bool { return r.Namespaced == (ref.Namespace != "") }

// Fits returns an error if an object's scope differs from its kind's, and nil otherwise.
func Fits(r lynq.APIResource, ref lynq.Ref) *ScopeError {
	if SameScope(r, ref) {
		return nil
	}
	return &ScopeError{Object: ref, Namespaced: r.Namespaced}
}
