package policy

import (
	"fmt"
	"strings"
)

// Target names the tool that applies the rendered manifests.
type Target string

// The targets: whatever one likes, Argo CD, Flux.
const (
	Plain Target = "plain"
	Argo  Target = "argo"
	Flux  Target = "flux"
)

// ParseTarget reads the name of a target.
func ParseTarget(name string) (Target, error) {
	for _, t := range []Target{Plain, Argo, Flux} {
		if name == string(t) {
			return t, nil
		}
	}
	return "", fmt.Errorf("target %q is unknown; it takes plain, argo, flux", name)
}

// Title is the target's name for people.
func (t Target) Title() string {
	switch t {
	case Argo:
		return "Argo CD"
	case Flux:
		return "Flux"
	}
	return "plain manifests"
}

// Apps says which objects are made that point the target at the tree.
type Apps string

// The kinds of such objects. AppsNone leaves them to the user, and with them the
// policies that live there.
const (
	AppsNone Apps = ""
	// AppsApplications is an Argo CD Application per node.
	AppsApplications Apps = "applications"
	// AppsApplicationSet is one Argo CD ApplicationSet for all nodes.
	AppsApplicationSet Apps = "applicationset"
	// AppsKustomizations is a Flux Kustomization per node.
	AppsKustomizations Apps = "kustomizations"
	// AppsOrdered is a Flux Kustomization per resource of a node, each of which
	// waits for those it depends on.
	AppsOrdered Apps = "ordered-kustomizations"
)

// appsOf are the kinds that a target has.
func appsOf(t Target) []Apps {
	switch t {
	case Argo:
		return []Apps{AppsApplications, AppsApplicationSet}
	case Flux:
		return []Apps{AppsKustomizations, AppsOrdered}
	}
	return nil
}

// ParseApps reads the name of a kind of objects that the target has.
func ParseApps(t Target, name string) (Apps, error) {
	known := appsOf(t)
	if len(known) == 0 {
		return "", fmt.Errorf("there are no objects that point %s at a tree (choose target argo or flux)", t)
	}
	words := make([]string, len(known))
	for i, a := range known {
		if words[i] = string(a); words[i] == name {
			return a, nil
		}
	}
	return "", fmt.Errorf("%q is none of those that target %s has: %s", name, t, strings.Join(words, ", "))
}
