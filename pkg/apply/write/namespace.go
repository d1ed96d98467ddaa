package write

import (
	"errors"
	"fmt"
)

// NamespaceError says that nothing can be made in a namespace.
type NamespaceError struct {
	Namespace string
	// Terminating: it is being deleted; else there is none.
	Terminating bool
	// Else is a way out beside creating the namespace.
	Else string
	// Err is the server's error, nil where the namespace itself was looked at.
	Err error
}

// Error implements error.
func (e *NamespaceError) Error() string {
	if e.Terminating {
		return fmt.Sprintf("namespace %s is terminating: nothing can be made in it (run again when it is gone; kubectl describe namespace %[1]s tells what holds it)", e.Namespace)
	}
	return fmt.Sprintf("namespace %s does not exist (create it with kubectl create namespace %[1]s, or %s)", e.Namespace, e.Else)
}

// Unwrap gives the server's error.
func (e *NamespaceError) Unwrap() error { return e.Err }

// InNamespace is the error of a write in a namespace, which says so where the namespace
// is the cause. or is a way out beside creating that.
func InNamespace(namespace, or string, err error) error {
	if told := (*NamespaceError)(nil); errors.As(err, &told) {
		return err
	}
	switch kind := ProblemOf(err).Kind; kind {
	case ProblemNoNamespace, ProblemEnding:
		return &NamespaceError{Namespace: namespace, Terminating: kind == ProblemEnding, Else: or, Err: err}
	}
	return err
}

// Ways out of a missing namespace: of a hub or a node, and of an object.
const (
	OrAnotherNamespace = "choose another with -n"
	orMakeNamespace    = "let a form make it, under namespaces"
)
