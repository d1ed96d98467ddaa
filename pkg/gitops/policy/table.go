package policy

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// table has the remedy of each policy for each target. docs/gitops-policies.md describes
// it for users.
func table() []entry { return slices.Concat(orderEntries(), lifeEntries(), writeEntries()) }

// orderEntries has the policies for order and readiness.
func orderEntries() []entry {
	return []entry{
		{
			policy: "dependIds", of: func(s *subject) bool {
				return len(s.order.Before(s.i)) > 0 || s.order.waves[s.i] > 0 && !s.order.owns[s.i]
			},
			argo: remedy{set: argoWave, lost: argoEarly},
			flux: remedy{lost: fluxUnordered(func(s *subject) []int { return s.order.needs[s.i] })},
		},
		{
			policy: "applyOrder", of: func(s *subject) bool { return len(s.order.later[s.i]) > 0 },
			flux: remedy{lost: fluxUnordered(func(s *subject) []int { return s.order.later[s.i] })},
		},
		{
			policy: "dependIds", of: func(s *subject) bool { return len(s.order.turns[s.i]) > 0 },
			argo: remedy{lost: inTurn},
			flux: remedy{lost: inTurn},
		},
		{
			policy: "skipOnDependencyFailure: false",
			of:     func(s *subject) bool { return len(s.DependIDs) > 0 && !s.Policy.SkipOnDependencyFailure },
			argo:   remedy{lost: always("it is not applied until all that it depends on is healthy")},
			flux:   remedy{lost: whenOrdered("it is not applied until all that it depends on is ready")},
		},
		{
			policy: "skipOnDependencyFailure: true", of: func(s *subject) bool { return s.Policy.SkipOnDependencyFailure },
			argo: remedy{lost: argoBystanders},
		},
		{
			policy: "waitForReady: false", of: func(s *subject) bool { return s.Policy.Unwaited },
			argo: remedy{lost: whenLater("later waves wait until it is healthy")},
		},
		{
			policy: "waitForReady: true", of: func(s *subject) bool { return !s.Policy.Unwaited && IsClaim(s.Resource) },
			argo: remedy{lost: argoClaim},
		},
		{
			policy: "readiness", of: func(s *subject) bool { return s.Policy.Readiness != nil },
			argo: remedy{lost: always("it is healthy when Argo CD's own rule for its kind says so (resource.customizations.health changes that)")},
			flux: remedy{lost: always("it is ready when kstatus says so (healthCheckExprs of its Kustomization changes that)")},
		},
		{
			policy: "timeoutSeconds", of: func(s *subject) bool {
				return !s.Policy.Unwaited && s.Policy.Timeout != lynq.DefaultPolicy().Timeout
			},
			argo: remedy{lost: whenLater("later waves wait for it without a limit")},
			flux: remedy{lost: fluxTimeout},
		},
	}
}

// lifeEntries has the policies for creation and deletion.
func lifeEntries() []entry {
	return []entry{
		{
			policy: "creationPolicy: Once", of: func(s *subject) bool { return s.Policy.Creation == lynq.CreateOnce },
			argo: remedy{lost: argoOnce},
			flux: remedy{set: annotation(fluxSSA, fluxIfNotPresent)},
		},
		{
			policy: "reconcilePolicy: OnObjectOrNodeChange", of: func(s *subject) bool { return s.Policy.OnNodeChange },
			argo: remedy{lost: always("it is written only where it differs from Git")},
		},
		{
			policy: "reapplyInterval", of: func(s *subject) bool { return s.Policy.ReapplyInterval > 0 },
			argo: remedy{lost: always("it is written only where it differs from Git")},
			flux: remedy{lost: fluxSeldom},
		},
		{
			policy: "deletionPolicy: Retain", of: func(s *subject) bool { return s.Policy.Deletion == lynq.DeleteRetain },
			argo: remedy{set: options("Prune=false", "Delete=false")},
			flux: remedy{set: annotation(fluxPrune, fluxDisabled)},
		},
		{
			policy: "deletionPolicy: RetainOnApply", of: func(s *subject) bool { return s.Policy.Deletion == lynq.DeleteRetainOnApply },
			argo: remedy{set: options("Prune=false"), lost: argoRetainOnApply},
			flux: remedy{set: annotation(fluxPrune, fluxDisabled), lost: always("it stays, too, when its node goes")},
		},
		{
			policy: "deletionPolicy: RetainOnDelete", of: func(s *subject) bool { return s.Policy.Deletion == lynq.DeleteRetainOnDelete },
			argo: remedy{set: options("Prune=false", "Delete=false"), lost: always("it stays, too, when the form drops it")},
			flux: remedy{set: annotation(fluxPrune, fluxDisabled), lost: always("it stays, too, when the form drops it")},
		},
		{
			policy: "purgeOrder", of: func(s *subject) bool { return s.Policy.PurgeOrder != nil },
			argo: remedy{set: argoHook, lost: always("it does its work at every sync, and goes when that ends")},
			flux: remedy{lost: always("it stays: Flux would create again what is deleted")},
		},
		{
			policy: "deleteOrder", of: func(s *subject) bool { return s.Policy.DeleteOrder != 0 },
			argo: remedy{lost: always("Argo CD prunes in the reverse order of its sync waves")},
			flux: remedy{lost: always("Flux deletes all that goes at once")},
		},
		{
			policy: "deletionPolicy: Delete", of: func(s *subject) bool {
				return s.Policy.Deletion == lynq.DeleteDelete && (s.IsNamespace() || s.IsDefinition())
			},
			argo: remedy{lost: argoDelete},
			flux: remedy{lost: always("Flux deletes it with everything in it, also objects of others (apply keeps it then)")},
		},
	}
}

// writeEntries has the policies for updates of existing objects.
func writeEntries() []entry {
	return []entry{
		{
			policy: "conflictPolicy: Stuck", of: func(s *subject) bool { return s.Policy.Conflict == lynq.ConflictStuck },
			argo: remedy{lost: argoStuck},
			flux: remedy{lost: always("Flux takes over objects of others")},
		},
		{
			policy: "adoptionPolicy", of: func(s *subject) bool {
				return s.Policy.Adoption == lynq.AdoptNever || s.Policy.Adoption == lynq.AdoptIfUnowned
			},
			argo: remedy{lost: always("Argo CD takes over existing objects, whoever made them")},
			flux: remedy{lost: always("Flux takes over existing objects, whoever made them")},
		},
		{
			policy: "patchStrategy: apply", of: func(s *subject) bool { return s.Policy.Patch == lynq.PatchApply },
			argo: remedy{set: options("ServerSideApply=true")},
			flux: remedy{lost: unlessCreatedOnce("Flux removes the fields that people add with kubectl (patchStrategy: merge keeps them)")},
		},
		{
			policy: "patchStrategy: override", of: func(s *subject) bool { return s.Policy.Patch == lynq.PatchOverride },
			argo: remedy{set: options("ServerSideApply=true"), lost: always("what Helm set and the form does not have stays")},
			flux: remedy{lost: unlessCreatedOnce("what Helm set and the form does not have stays")},
		},
		{
			policy: "patchStrategy: merge", of: func(s *subject) bool { return s.Policy.Patch == lynq.PatchMerge },
			argo: remedy{set: options("ServerSideApply=false")},
			flux: remedy{set: unlessOnce(annotation(fluxSSA, fluxMerge))},
		},
		{
			policy: "patchStrategy: replace", of: func(s *subject) bool { return s.Policy.Patch == lynq.PatchReplace },
			argo: remedy{set: options("Replace=true")},
			flux: remedy{set: unlessOnce(annotation(fluxSSA, fluxOverride)), lost: unlessCreatedOnce("server-side apply: what others added to it stays")},
		},
		{
			policy: "patchStrategy: recreate", of: func(s *subject) bool { return s.Policy.Patch == lynq.PatchRecreate },
			argo: remedy{set: options("ServerSideApply=true"), lost: always("it is changed in place, and a field that cannot change fails the sync (Force=true,Replace=true of the form's own recreates it at every sync)")},
			flux: remedy{set: fluxRecreate, lost: fluxRecreates},
		},
		{
			policy: "ignoreFields", of: func(s *subject) bool { return len(s.Policy.IgnoreFields) > 0 && !s.Policy.Creation.Once() },
			argo: remedy{lost: argoIgnored},
			flux: remedy{lost: fluxIgnored},
		},
	}
}

// formLosses returns the losses of the whole form.
func formLosses(f *form.Form, t Target) []Loss {
	var losses []Loss
	if len(f.DependForms) > 0 {
		of := "Applications"
		if t == Flux {
			of = "Kustomizations"
		}
		losses = append(losses, Loss{Form: f.Name, Policy: "dependForms", Instead: of + " of different forms do not wait for each other"})
	}
	if len(f.Rollout.Stages) > 0 {
		losses = append(losses, Loss{Form: f.Name, Policy: "rollout.stages", Instead: "all nodes change at once when " + t.Title() + " sees the commit"})
	}
	if f.Rollout.MaxSkew == 0 {
		return losses
	}
	return append(losses, Loss{Form: f.Name, Policy: "rollout.maxSkew", Instead: "all nodes change at once when " + t.Title() + " sees the commit"})
}

// always is a loss for each resource with the policy.
func always(what string) func(*subject) string {
	return func(*subject) string { return what }
}

// unlessCreatedOnce is a loss for resources that lynqctl updates.
func unlessCreatedOnce(what string) func(*subject) string {
	return func(s *subject) string {
		if s.Policy.Creation.Once() {
			return ""
		}
		return what
	}
}

// inTurn is a loss for resources that depend on each other, because no target can apply
// them.
func inTurn(s *subject) string {
	return "it does not wait for " + listed(s.order.ids(s.order.turns[s.i])) + ", which needs it in turn"
}

// whenOrdered is a loss if each resource has its own Kustomization.
func whenOrdered(what string) func(*subject) string {
	return func(s *subject) string {
		if s.apps != AppsOrdered {
			return ""
		}
		return what
	}
}

// annotation returns one annotation.
func annotation(key, value string) func(*subject) []setting {
	return func(*subject) []setting { return []setting{{key: key, value: value}} }
}

// options returns sync options of Argo CD.
func options(values ...string) func(*subject) []setting {
	return func(*subject) []setting {
		settings := make([]setting, len(values))
		for i, v := range values {
			settings[i] = setting{key: argoSyncOptions, value: v, option: true}
		}
		return settings
	}
}

// unlessOnce returns no settings for resources that are never updated.
func unlessOnce(set func(*subject) []setting) func(*subject) []setting {
	return func(s *subject) []setting {
		if s.Policy.Creation.Once() {
			return nil
		}
		return set(s)
	}
}

// fluxRecreate makes Flux recreate an object for changes that the server refuses. It
// excludes objects that hold data, because apply doesn't recreate them either.
func fluxRecreate(s *subject) []setting {
	if holdsData(s.Resource) {
		return nil
	}
	return []setting{{key: fluxForce, value: fluxEnabled}}
}

func fluxRecreates(s *subject) string {
	if holdsData(s.Resource) {
		return ""
	}
	return "it is changed in place where the server allows that"
}

func holdsData(r *form.Resource) bool {
	group, _ := lynq.SplitAPIVersion(r.APIVersion)
	return lynq.Ref{Group: group, Kind: r.Kind}.HoldsData()
}

// IsClaim reports whether a resource is a PersistentVolumeClaim.
func IsClaim(r *form.Resource) bool { return r.APIVersion == "v1" && r.Kind == "PersistentVolumeClaim" }

// listed joins names for a message.
func listed(names []string) string { return strings.Join(names, ", ") }
