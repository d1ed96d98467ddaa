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

// CreationPolicies are all creation policies.
func CreationPolicies() []CreationPolicy { return []CreationPolicy{CreateWhenNeeded, CreateOnce} }

// DeletionPolicies are all deletion policies.
func DeletionPolicies() []DeletionPolicy {
	return []DeletionPolicy{DeleteDelete, DeleteRetain, DeleteRetainOnApply, DeleteRetainOnDelete}
}

// ConflictPolicies are all conflict policies.
func ConflictPolicies() []ConflictPolicy { return []ConflictPolicy{ConflictStuck, ConflictForce} }

// PatchStrategies are all patch strategies.
func PatchStrategies() []PatchStrategy {
	return []PatchStrategy{PatchApply, PatchOverride, PatchMerge, PatchReplace, PatchRecreate}
}

// Lifecycle is the part of a Policy that is recorded in a node's inventory: commands
// without inputs, and later runs, go by it. The tags name its fields there.
type Lifecycle struct {
	Creation CreationPolicy `json:"creation,omitempty"`
	Deletion DeletionPolicy `json:"deletion,omitempty"`
	Conflict ConflictPolicy `json:"conflict,omitempty"`
	Patch    PatchStrategy  `json:"patch,omitempty"`
	// DeleteOrder is the wave in which the object is deleted: from the lowest up, each when
	// all of the node's earlier ones are gone. It is independent of ApplyOrder.
	DeleteOrder int `json:"deleteOrder,omitempty"`
	// Unwaited: nothing waits until the object is ready (waitForReady: false).
	Unwaited bool `json:"unwaited,omitempty"`
	// Data: more than the object is lost when it is deleted, as with the kinds of
	// Ref.HoldsData: the form or the manifest says so.
	Data bool `json:"holdsData,omitempty"`
	// RunOn is RunOnDelete for a hook, "" for all others.
	RunOn RunOn `json:"runOn,omitempty"`
}

// Policy is everything a form says about the life of one resource, beside its
// content.
type Policy struct {
	Lifecycle
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
	// Timeout is how long the wait may last; whole seconds, 1 s to 1 h.
	Timeout time.Duration
	// Readiness is what it takes to be ready beside what the kind tells, nil for
	// nothing.
	Readiness *Readiness
	// ApplyOrder is the wave in which the object is written: it waits for all objects of
	// the node's earlier waves, as for those of its dependIds.
	ApplyOrder int
	// PurgeOrder is the wave at whose end the object is deleted, for its work is done
	// then; nil for one that stays.
	PurgeOrder *int
}

// Waves go from LowestWave to HighestWave.
const (
	LowestWave  = -32768
	HighestWave = 32767
)

// Once tells whether the content of an object is written once, and left alone then.
func (c CreationPolicy) Once() bool { return c == CreateOnce }

// Hook tells whether the object is run when its node goes, and is not one of the objects
// that the node wants.
func (l Lifecycle) Hook() bool { return l.RunOn == RunOnDelete }

// Hook tells the same of the object that the policy is about, false where there is none.
func (p *Policy) Hook() bool { return p != nil && p.Lifecycle.Hook() }

// Content returns the policies that have a part in what lynqctl writes. A change of the
// others causes no write.
func (l Lifecycle) Content() Lifecycle {
	l.DeleteOrder, l.Data = 0, false
	return l
}

// DeletesDesired tells whether a run may delete the object although its node desires it:
// when its work is done, or to create it again.
func (p *Policy) DeletesDesired() bool { return p.PurgeOrder != nil || p.Patch == PatchRecreate }

// TakesAway tells whether a run may take away what others put into the object: it deletes or
// replaces the object.
func (p *Policy) TakesAway() bool { return p.DeletesDesired() || p.Patch == PatchReplace }

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
