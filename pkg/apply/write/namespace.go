package write

import (
	"errors"
	"fmt"
)

// NamespaceError means that lynqctl can't create an object in a namespace.
type NamespaceError struct {
	Namespace string
	// Terminating is set if somebody is deleting the namespace. Otherwise it doesn't exist.
	Terminating bool
	// Why has the conditions of a terminating namespace, or "".
	Why string
	// Else is a fix beside creating the namespace.
	Else string
	// Err is the server's error, or nil if lynqctl read the namespace itself.
	Err error
}

// Error implements error.
func (e *NamespaceError) Error() string {
	switch {
	case e.Terminating && e.Why != "":
		return fmt.Sprintf("namespace %s is terminating: nothing can be made in it. It says %s (fix that, and run again when the namespace is gone)", e.Namespace, e.Why)
	case e.Terminating:
		return fmt.Sprintf("namespace %s is terminating: nothing can be made in it (run again when it is gone; kubectl describe namespace %[1]s tells what holds it)", e.Namespace)
	}
	return fmt.Sprintf("namespace %s does not exist (create it with kubectl create namespace %[1]s, or %s)", e.Namespace, e.Else)
}

// Unwrap returns the server's error.
func (e *NamespaceError) Unwrap() error { return e.Err }

// InNamespace explains the error of a write if the namespace is its cause. or is a fix
// beside creating the namespace.
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

// These are fixes for a missing namespace of a hub or a node, and of an object.
const (
	OrAnotherNamespace = "choose another with -n"
	orMakeNamespace    = "let a form make it, under namespaces"
)
