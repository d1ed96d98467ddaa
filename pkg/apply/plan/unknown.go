package plan

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// UnknownError says why lynqctl doesn't change a node. It couldn't read some of its
// objects, so it doesn't know whether they exist.
type UnknownError struct {
	// Causes are the server's errors, without duplicates.
	Causes []error
}

// Error implements error.
func (e *UnknownError) Error() string {
	more := ""
	if n := len(e.Causes) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Sprintf("%v%s; lynqctl changes nothing of the node until it knows which of its objects exist", e.Causes[0], more)
}

// Unwrap returns the causes.
func (e *UnknownError) Unwrap() []error { return e.Causes }

// UnservedError says why lynqctl doesn't know which recorded objects of a kind exist. The
// server no longer serves the kind, and they may come back with it.
type UnservedError struct {
	Group, Kind string
	// Definition is the CustomResourceDefinition that defines the kind, or "".
	Definition string
}

// Error implements error.
func (e *UnservedError) Error() string {
	kind := lynq.Ref{Group: e.Group, Kind: e.Kind}.GroupKind()
	if e.Definition != "" {
		return fmt.Sprintf("CustomResourceDefinition %[2]s defines kind %[1]s, but the server doesn't serve it, so lynqctl can't tell which recorded objects exist. Serve a version of it, or delete the definition and all objects of it", kind, e.Definition)
	}
	return fmt.Sprintf("the server no longer serves kind %s, and its recorded objects may still exist. Serve it again, for example by its CustomResourceDefinition or APIService. In other namespaces than the inventory's, lynqctl finalize --force gives the objects up", kind)
}
