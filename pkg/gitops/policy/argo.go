package policy

import (
	"slices"
	"strconv"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// These are annotations of Argo CD, in the spelling of its documentation.
const (
	argoSyncOptions = "argocd.argoproj.io/sync-options"
	argoSyncWave    = "argocd.argoproj.io/sync-wave"
	ArgoHookPhase   = "argocd.argoproj.io/hook"
	ArgoHookDeleted = "argocd.argoproj.io/hook-delete-policy"
)

// argoWave puts a resource into a wave after its dependencies. A wave in the form wins.
// See argoEarly.
func argoWave(s *subject) []setting {
	if s.order.owns[s.i] || s.order.waves[s.i] == 0 {
		return nil
	}
	return []setting{{key: argoSyncWave, value: strconv.Itoa(s.order.waves[s.i])}}
}

// argoHook makes a resource a hook, which Argo CD deletes after success.
func argoHook(*subject) []setting {
	return []setting{{key: ArgoHookPhase, value: "Sync"}, {key: ArgoHookDeleted, value: "HookSucceeded"}}
}

// argoEarly reports waves of the form that break the order.
func argoEarly(s *subject) string {
	own, _ := ownAnnotation(s.Resource, argoSyncWave)
	early := s.order.early(s.i)
	_, number := ownWave(s.Resource)
	switch {
	case s.order.owns[s.i] && !number:
		return ownFirst(argoSyncWave, own)
	case len(early) > 0:
		return "it does not wait for " + listed(early) + "; " + ownFirst(argoSyncWave, own)
	}
	return ""
}

// whenLater is a loss if other resources have later waves, because they wait for all
// earlier resources.
func whenLater(what string) func(*subject) string {
	return func(s *subject) string {
		if slices.Max(s.order.waves) == s.order.waves[s.i] {
			return ""
		}
		return what
	}
}

// argoBystanders names resources of earlier waves that a resource doesn't depend on. It
// still waits for them, and a failed wave ends the sync.
func argoBystanders(s *subject) string {
	var waitsFor []int
	for j, wave := range s.order.waves {
		if wave < s.order.waves[s.i] && !s.order.follows(s.i, j) {
			waitsFor = append(waitsFor, j)
		}
	}
	if len(waitsFor) == 0 {
		return ""
	}
	return "it also waits for " + listed(s.order.ids(waitsFor)) + ": Argo CD begins a wave when all earlier waves are healthy"
}

// argoAfterClaims reports whether Argo CD applies a kind after the claims of its wave
// (gitops-engine, kindOrder).
func argoAfterClaims(kind string) bool {
	return !slices.Contains([]string{
		"Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy", "PodDisruptionBudget",
		"ServiceAccount", "Secret", "SecretList", "ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim",
	}, kind)
}

// argoClaim reports claims that delay later waves, because nothing in their own wave uses
// them.
func argoClaim(s *subject) string {
	for i, wave := range s.order.waves {
		if wave == s.order.waves[s.i] && slices.Contains(s.order.needs[i], s.i) {
			return ""
		}
	}
	return whenLater("later waves wait until the claim is bound: for ever where its class binds on first use")(s)
}

// argoOnce says what happens to an object with creationPolicy Once, for which Argo CD has
// no annotation. Only an Application can ignore fields, so lynqctl makes it ignore the
// content.
func argoOnce(s *subject) string {
	if s.Chart != nil && s.apps != AppsNone { // the Application is the same for all rows
		return "its content is written again at every sync"
	}
	if s.apps == AppsNone {
		return "its content is written again at every sync (--emit-apps makes Argo CD leave it alone)"
	}
	return "Argo CD leaves its content alone, and writes its labels and annotations where they differ from Git"
}

// argoRetainOnApply reports objects that stay when their node is deleted. The node's own
// Application deletes all its objects except CustomResourceDefinitions.
func argoRetainOnApply(s *subject) string {
	if s.apps != AppsNone && !s.IsDefinition() {
		return ""
	}
	return "it stays, too, when its node goes"
}

// argoDelete reports objects whose deletion deletes other objects.
func argoDelete(s *subject) string {
	if s.apps == AppsNone || !s.IsDefinition() {
		return "Argo CD deletes it with everything in it, also objects of others (apply keeps it then)"
	}
	return "it stays when its node goes, because Argo CD never deletes definitions with an Application; a form that drops it deletes it with all objects of its kind"
}

func argoStuck(s *subject) string {
	if s.apps == AppsApplications && AllStuck(s.form) {
		return "Argo CD takes over objects of others, and stops at an object of another Application"
	}
	return "Argo CD takes over objects of others"
}

func argoIgnored(s *subject) string {
	if s.apps == AppsNone {
		return "the fields are written at every sync (--emit-apps makes Argo CD leave them alone)"
	}
	return unlike(s, "no path of jq is known to say the same as %s: the field is written at every sync", func(path string) bool {
		_, ok := JQPath(path)
		return ok
	})
}

// AllStuck reports whether another Application must keep every resource of a form. Only rows
// tell that of charts.
func AllStuck(f *form.Form) bool {
	return len(f.Charts) == 0 && !slices.ContainsFunc(f.Wanted(), func(r *form.Resource) bool { return r.Policy.Conflict != lynq.ConflictStuck })
}
