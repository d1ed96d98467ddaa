package lynq

import "time"

// CreationPolicy says when an object is created or written again.
type CreationPolicy string

// DeletionPolicy says what happens to an object that its node no longer wants.
type DeletionPolicy string

// ConflictPolicy says what happens when another owns an object or field.
type ConflictPolicy string

// AdoptionPolicy says what happens to an object that exists and is not the
// node's. What ConflictPolicy says is then about fields only.
type AdoptionPolicy string

// ReconcilePolicy says when an object is written again.
type ReconcilePolicy string

// PatchStrategy says how an existing object is updated.
type PatchStrategy string

// RunOn says when a resource is created.
type RunOn string

// The values of the policies (seed: policies guide; adoption: dependents).
const (
	CreateWhenNeeded CreationPolicy = "WhenNeeded"
	CreateOnce       CreationPolicy = "Once"

	DeleteDelete         DeletionPolicy = "Delete"
	DeleteRetain         DeletionPolicy = "Retain"
	DeleteRetainOnApply  DeletionPolicy = "RetainOnApply"  // kept when the form drops it, deleted with its node
	DeleteRetainOnDelete DeletionPolicy = "RetainOnDelete" // kept when its node goes, deleted when the form drops it

	ConflictStuck ConflictPolicy = "Stuck"
	ConflictForce ConflictPolicy = "Force"

	AdoptNever     AdoptionPolicy = "Never"     // a conflict, even if nothing claims it
	AdoptIfUnowned AdoptionPolicy = "IfUnowned" // adopted, unless another tool or controller has it
	AdoptAlways    AdoptionPolicy = "Always"    // adopted, or taken over

	OnObjectChange       ReconcilePolicy = "OnObjectChange"       // when its manifest changes
	OnObjectOrNodeChange ReconcilePolicy = "OnObjectOrNodeChange" // or anything else of its row or form
	ReconcileOnce        ReconcilePolicy = "Once"                 // never: CreateOnce in other words

	PatchApply    PatchStrategy = "apply"
	PatchOverride PatchStrategy = "override" // apply, and what client-side tools manage is taken back
	PatchMerge    PatchStrategy = "merge"
	PatchReplace  PatchStrategy = "replace"
	PatchRecreate PatchStrategy = "recreate" // deleted and created again, where its content changes

	RunOnApply  RunOn = "Apply"
	RunOnDelete RunOn = "Delete" // created when its node goes, and must complete before anything of it is deleted
)

// Policy is everything a form says about the life of one resource, beside its
// content.
type Policy struct {
	Creation CreationPolicy
	Deletion DeletionPolicy
	Conflict ConflictPolicy
	Patch    PatchStrategy
	// Adoption is "" where the form does not say it; see Adopts.
	Adoption AdoptionPolicy
	// OnNodeChange: it is written again, too, when a mapped column of its row changes, or
	// its form, that has no part in its manifest.
	OnNodeChange bool
	// ReapplyInterval: it is written again, too, when its last write is so long ago; 0:
	// never for that.
	ReapplyInterval time.Duration
	// IgnoreFields are RFC 9535 JSONPaths, left alone after the first creation.
	IgnoreFields []string
	// SkipOnDependencyFailure: a failed dependency keeps the resource from
	// being applied.
	SkipOnDependencyFailure bool
	// WaitForReady: dependents wait until the resource is ready.
	WaitForReady bool
	// Timeout is how long the wait may last; whole seconds, 1 s to 1 h.
	Timeout time.Duration
	// Readiness is what it takes to be ready beside what the kind tells, nil for
	// nothing.
	Readiness *Readiness
	// ApplyOrder is the wave in which the object is written: it waits for all objects of
	// the node's earlier waves, as for those of its dependIds.
	ApplyOrder int
	// DeleteOrder is the wave in which the object is deleted, when all of the node's
	// earlier ones are gone: independent of ApplyOrder.
	DeleteOrder int
	// PurgeOrder is the wave at whose end the object is deleted, for its work is done
	// then; nil for one that stays.
	PurgeOrder *int
	// RunOn is "" where the form does not say it.
	RunOn RunOn
	// HoldsData: more than the object is lost when it is deleted, as with the kinds of
	// Ref.HoldsData.
	HoldsData bool
}

// Waves go from LowestWave to HighestWave.
const (
	LowestWave  = -32768
	HighestWave = 32767
)

// Hook tells whether the resource is run when its node goes, and is not one of the
// objects that the node wants.
func (p *Policy) Hook() bool { return p != nil && p.RunOn == RunOnDelete }

// DeletesDesired tells whether a run may delete the object although its node desires it:
// when its work is done, or to create it again.
func (p *Policy) DeletesDesired() bool { return p.PurgeOrder != nil || p.Patch == PatchRecreate }

// DefaultPolicy is what a resource has that says nothing.
func DefaultPolicy() Policy {
	return Policy{
		Creation:                CreateWhenNeeded,
		Deletion:                DeleteDelete,
		Conflict:                ConflictStuck,
		Patch:                   PatchApply,
		SkipOnDependencyFailure: true,
		WaitForReady:            true,
		Timeout:                 300 * time.Second,
	}
}

// PatchStrategies are all patch strategies.
func PatchStrategies() []PatchStrategy {
	return []PatchStrategy{PatchApply, PatchOverride, PatchMerge, PatchReplace, PatchRecreate}
}

// DeletionPolicies are all deletion policies.
func DeletionPolicies() []DeletionPolicy {
	return []DeletionPolicy{DeleteDelete, DeleteRetain, DeleteRetainOnApply, DeleteRetainOnDelete}
}

// Keeps tells whether an object stays that its node wants no more: because the node
// goes, or because its form dropped the object.
func (d DeletionPolicy) Keeps(nodeGoes bool) bool {
	return d == DeleteRetain || d == DeleteRetainOnDelete && nodeGoes || d == DeleteRetainOnApply && !nodeGoes
}

// Or is the policy that keeps an object whenever one of two does.
func (d DeletionPolicy) Or(other DeletionPolicy) DeletionPolicy {
	onDelete, onApply := d.Keeps(true) || other.Keeps(true), d.Keeps(false) || other.Keeps(false)
	switch {
	case onDelete && onApply:
		return DeleteRetain
	case onDelete:
		return DeleteRetainOnDelete
	case onApply:
		return DeleteRetainOnApply
	}
	return d
}

// Adopts is the adoption policy: what the form says, else what follows from the
// conflict policy.
func (p *Policy) Adopts() AdoptionPolicy {
	switch {
	case p.Adoption != "":
		return p.Adoption
	case p.Conflict == ConflictForce:
		return AdoptAlways
	}
	return AdoptIfUnowned
}
