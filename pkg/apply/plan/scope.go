package plan

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// ScopeError says why there can be no such object: its kind has namespaces and it has
// none, or the other way round.
type ScopeError struct {
	Object lynq.Ref
	// Namespaced is how the server serves the kind.
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

// Impossible says why an object that was recorded cannot be there.
func (e *ScopeError) Impossible() string {
	if e.Namespaced {
		return "it can't exist: it is recorded without a namespace, and its kind has namespaces"
	}
	return "it can't exist: it is recorded in a namespace, and its kind has none"
}

// SameScope tells whether an object can be of a kind as the server serves it.
func SameScope(r lynq.APIResource, ref lynq.Ref) bool { return r.Namespaced == (ref.Namespace != "") }

// Fits says why an object can't be of a kind as the server serves it; nil where it can.
func Fits(r lynq.APIResource, ref lynq.Ref) *ScopeError {
	if SameScope(r, ref) {
		return nil
	}
	return &ScopeError{Object: ref, Namespaced: r.Namespaced}
}
