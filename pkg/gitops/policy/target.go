package policy

import (
	"fmt"
	"strings"
)

// Target names the tool that applies the rendered manifests.
type Target string

// These are the targets. Plain is for any tool.
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

// Title returns the target's name for people.
func (t Target) Title() string {
	switch t {
	case Argo:
		return "Argo CD"
	case Flux:
		return "Flux"
	}
	return "plain manifests"
}

// Apps is the kind of objects that deploy the tree.
type Apps string

// These are the kinds. With AppsNone, users create the objects and their policies.
const (
	AppsNone Apps = ""
	// AppsApplications is an Argo CD Application for each node.
	AppsApplications Apps = "applications"
	// AppsApplicationSet is one Argo CD ApplicationSet for all nodes.
	AppsApplicationSet Apps = "applicationset"
	// AppsKustomizations is a Flux Kustomization for each node.
	AppsKustomizations Apps = "kustomizations"
	// AppsOrdered is a Flux Kustomization for each resource of a node. Each waits for its
	// dependencies.
	AppsOrdered Apps = "ordered-kustomizations"
)

// appsOf returns the kinds for a target.
func appsOf(t Target) []Apps {
	switch t {
	case Argo:
		return []Apps{AppsApplications, AppsApplicationSet}
	case Flux:
		return []Apps{AppsKustomizations, AppsOrdered}
	}
	return nil
}

// ParseApps reads the name of a kind for this target.
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
