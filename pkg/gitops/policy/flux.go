package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// These are annotations of Flux's kustomize-controller, in the spelling of its
// documentation.
const (
	fluxSSA        = "kustomize.toolkit.fluxcd.io/ssa"
	fluxPrune      = "kustomize.toolkit.fluxcd.io/prune"
	fluxForce      = "kustomize.toolkit.fluxcd.io/force"
	fluxSubstitute = "kustomize.toolkit.fluxcd.io/substitute"

	fluxIfNotPresent = "IfNotPresent"
	fluxMerge        = "Merge"
	fluxOverride     = "Override"
	fluxDisabled     = "disabled"
	fluxEnabled      = "Enabled"
)

// FluxInterval sets how often Flux compares the cluster with the tree.
const FluxInterval = "10m"

// Verbatim returns the annotation for objects that the target's variable substitution
// would change. Its key is empty if the target has no variables. Only rendering shows
// which objects these are, because rows fill them in.
func Verbatim(t Target) form.Entry {
	if t != Flux {
		return form.Entry{}
	}
	return form.Entry{Key: fluxSubstitute, Text: form.Text{Text: fluxDisabled}}
}

// fluxUnordered reports resources that Flux may apply too early. A Kustomization first
// applies CustomResourceDefinitions, Namespaces, ClusterRoles and classes, and then
// everything else at once.
func fluxUnordered(before func(*subject) []int) func(*subject) string {
	return func(s *subject) string {
		if s.apps == AppsOrdered {
			return ""
		}
		var lost []string
		for _, j := range before(s) {
			if needed := s.order.Resources[j]; fluxStage(needed) >= fluxStage(s.Resource) {
				lost = append(lost, needed.ID)
			}
		}
		if len(lost) == 0 {
			return ""
		}
		return fmt.Sprintf("it does not wait for %s: all of a node is applied at once (--emit-apps=%s keeps the order)", listed(lost), AppsOrdered)
	}
}

// fluxStage returns when a Kustomization applies a resource.
func fluxStage(r *form.Resource) int {
	group, _ := lynq.SplitAPIVersion(r.APIVersion)
	switch {
	case r.IsNamespace(), r.IsDefinition(), group == "rbac.authorization.k8s.io" && r.Kind == "ClusterRole":
		return 0
	case strings.HasSuffix(r.Kind, "Class"):
		return 1
	}
	return 2
}

// fluxLeastTimeout is the minimum that Flux uses for shorter timeouts.
const fluxLeastTimeout = 30 * time.Second

func fluxTimeout(s *subject) string {
	switch {
	case s.apps == AppsNone:
		return "the timeout is that of your Kustomization"
	case s.apps == AppsKustomizations && s.Policy.Timeout < LongestTimeout(s.form.Wanted()):
		return fmt.Sprintf("the node has the longest timeout of its resources, %s", LongestTimeout(s.form.Wanted()))
	case s.Policy.Timeout < fluxLeastTimeout:
		return fmt.Sprintf("Flux waits %s at least", fluxLeastTimeout)
	}
	return ""
}

// LongestTimeout returns the timeout of a Kustomization with all these resources.
func LongestTimeout(resources []*form.Resource) time.Duration {
	var longest time.Duration
	for _, r := range resources {
		if !r.Policy.Unwaited {
			longest = max(longest, r.Policy.Timeout)
		}
	}
	return longest
}

// fluxSeldom is a loss if the form reapplies an object more often than Flux does.
func fluxSeldom(s *subject) string {
	if every, err := time.ParseDuration(FluxInterval); err != nil || s.Policy.ReapplyInterval >= every {
		return ""
	}
	return "it is written at every spec.interval of its Kustomization, " + FluxInterval + " with --emit-apps, where it differs from Git"
}

func fluxIgnored(s *subject) string {
	switch {
	case s.apps == AppsNone:
		return "the fields are written at every sync (--emit-apps makes Flux leave them alone)"
	case !naming.IsLabelValue(s.ID):
		return "no selector of Flux finds it by its id: the fields are written at every sync"
	}
	return unlike(s, "no JSON pointer says the same as %s: the field is written at every sync", func(path string) bool {
		_, ok := JSONPointer(path)
		return ok
	})
}
