package policy

import (
	"slices"
	"strconv"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Annotations of Argo CD, as its documentation spells them.
const (
	argoSyncOptions = "argocd.argoproj.io/sync-options"
	argoSyncWave    = "argocd.argoproj.io/sync-wave"
	ArgoHookPhase   = "argocd.argoproj.io/hook"
	ArgoHookDeleted = "argocd.argoproj.io/hook-delete-policy"
)

// argoWave puts a resource into a wave after those of what it needs. A wave that
// the form gives it stays: see argoEarly.
func argoWave(s *subject) []setting {
	if s.order.owns[s.i] || s.order.waves[s.i] == 0 {
		return nil
	}
	return []setting{{key: argoSyncWave, value: strconv.Itoa(s.order.waves[s.i])}}
}

// argoHook makes a hook of a resource, which goes when it succeeded.
func argoHook(*subject) []setting {
	return []setting{{key: ArgoHookPhase, value: "Sync"}, {key: ArgoHookDeleted, value: "HookSucceeded"}}
}

// argoEarly tells of waves of the form's own that break the order.
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

// whenLater is a loss where other resources come in later waves: they wait for all
// that comes before them.
func whenLater(what string) func(*subject) string {
	return func(s *subject) string {
		if slices.Max(s.order.waves) == s.order.waves[s.i] {
			return ""
		}
		return what
	}
}

// argoBystanders tells of resources in earlier waves that a resource doesn't depend on. It
// waits for them all the same, and a wave that fails ends the sync.
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

// argoAfterClaims tells whether Argo CD applies a kind after the claims of the same
// wave (gitops-engine, kindOrder).
func argoAfterClaims(kind string) bool {
	return !slices.Contains([]string{
		"Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy", "PodDisruptionBudget",
		"ServiceAccount", "Secret", "SecretList", "ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim",
	}, kind)
}

// argoClaim tells of claims that hold up later waves: those that nothing in their
// own wave uses.
func argoClaim(s *subject) string {
	for i, wave := range s.order.waves {
		if wave == s.order.waves[s.i] && slices.Contains(s.order.needs[i], s.i) {
			return ""
		}
	}
	return whenLater("later waves wait until the claim is bound: for ever where its class binds on first use")(s)
}

// argoOnce: Argo CD has no annotation for it. Its Applications ignore fields, and what
// lynqctl has them ignore is the content.
func argoOnce(s *subject) string {
	if s.apps == AppsNone {
		return "its content is written again at every sync (--emit-apps makes Argo CD leave it alone)"
	}
	return "Argo CD leaves its content alone, and writes its labels and annotations where they differ from Git"
}

// argoRetainOnApply: an Application of its own takes the objects of a node with it when
// the node goes, but for definitions of kinds.
func argoRetainOnApply(s *subject) string {
	if s.apps != AppsNone && !s.IsDefinition() {
		return ""
	}
	return "it stays, too, when its node goes"
}

// argoDelete is what becomes of objects that hold others.
func argoDelete(s *subject) string {
	if s.apps == AppsNone || !s.IsDefinition() {
		return "it is deleted with all that is in it, be it anybody's (apply leaves it then)"
	}
	return "it stays when its node goes, because Argo CD never deletes definitions with an Application; a form that drops it deletes it with all objects of its kind"
}

func argoStuck(s *subject) string {
	if s.apps == AppsApplications && AllStuck(s.form) {
		return "what others own is taken over, but for what another Application has: that stops the sync"
	}
	return "what others own is taken over"
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

// AllStuck tells whether no resource of a form may be taken from another
// Application.
func AllStuck(f *form.Form) bool {
	return !slices.ContainsFunc(f.Wanted(), func(r *form.Resource) bool { return r.Policy.Conflict != lynq.ConflictStuck })
}
