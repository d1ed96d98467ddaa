package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// CheckNamespace refuses a value of -n that Kubernetes doesn't accept.
func CheckNamespace(namespace string) error {
	if namespace != "" && !naming.IsDNS1123Label(namespace) {
		return BadUsage(fmt.Errorf("-n: namespace %q isn't valid in Kubernetes (use at most 63 lowercase letters, digits, and '-')", namespace))
	}
	return nil
}

// CheckKeptTo refuses values of -n and --namespaces that Kubernetes doesn't accept, or that
// contradict each other. An empty list would mean all namespaces. It keeps each namespace
// once, because the client lists each.
func CheckKeptTo(access *kube.Access, namespace string) error {
	if access.Namespaces != nil && len(access.Namespaces) == 0 {
		return BadUsage(errors.New("--namespaces is empty (an unset variable, perhaps)"))
	}
	slices.Sort(access.Namespaces)
	access.Namespaces = slices.Compact(access.Namespaces)
	for _, ns := range access.Namespaces {
		if !naming.IsDNS1123Label(ns) {
			return BadUsage(fmt.Errorf("--namespaces: namespace %q isn't valid in Kubernetes (use at most 63 lowercase letters, digits, and '-')", ns))
		}
	}
	if namespace != "" && len(access.Namespaces) > 0 && !slices.Contains(access.Namespaces, namespace) {
		return BadUsage(fmt.Errorf("-n %s isn't in --namespaces %s", namespace, strings.Join(access.Namespaces, ",")))
	}
	return CheckNamespace(namespace)
}

// NamespaceMeant returns the namespace of -n, "" for all with -A, else the only one of
// --namespaces, else the namespace of the context.
func NamespaceMeant(access *kube.Access, namespace string, everywhere bool) (string, error) {
	within := access.Namespaces
	switch err := CheckKeptTo(access, namespace); {
	case err != nil:
		return "", err
	case everywhere && len(within) > 0:
		return "", BadUsage(errors.New("-A and --namespaces exclude each other"))
	case everywhere:
		return "", nil
	case namespace != "":
		return namespace, nil
	case len(within) == 1:
		return within[0], nil
	}
	ns, err := access.Namespace()
	if err != nil {
		return "", BadUsage(err)
	}
	if ns = cmp.Or(ns, "default"); len(within) > 0 && !slices.Contains(within, ns) {
		return "", BadUsage(fmt.Errorf("namespace %s of the context isn't in --namespaces %s (pass -n)", ns, strings.Join(within, ",")))
	}
	return ns, nil
}

// NamespacesMeant works like NamespaceMeant, for lists. It also returns "" for all of several
// --namespaces.
func NamespacesMeant(access *kube.Access, namespace string, everywhere bool) (string, error) {
	if err := CheckKeptTo(access, namespace); err != nil {
		return "", err
	}
	if namespace == "" && !everywhere && len(access.Namespaces) > 1 {
		return "", nil
	}
	return NamespaceMeant(access, namespace, everywhere)
}

// OneOrAll works like NamespaceMeant, for use cases that change objects. They refuse -n
// together with -A.
func OneOrAll(access *kube.Access, namespace string, everywhere bool) (string, error) {
	if everywhere && namespace != "" {
		return "", BadUsage(errors.New("-A and -n exclude each other"))
	}
	return NamespaceMeant(access, namespace, everywhere)
}

// HubMeant returns the hub that NAME or NAMESPACE/NAME selects, together with the namespace
// of -n.
func HubMeant(access *kube.Access, namespace, name string) (lynq.HubKey, error) {
	said, hub, found := strings.Cut(name, "/")
	switch {
	case found && namespace != "" && namespace != said:
		return lynq.HubKey{}, BadUsage(fmt.Errorf("hub %s isn't in namespace %s (-n)", name, namespace))
	case found:
		namespace, name = said, hub
	}
	namespace, err := NamespaceMeant(access, namespace, false)
	return lynq.HubKey{Namespace: namespace, Name: name}, err
}

// Hint says in parentheses what to do about an unknown name.
func Hint(name string, known []string) string {
	return " (" + cmp.Or(suggest.Fix(name, known), "lynqctl status -A lists all") + ")"
}
