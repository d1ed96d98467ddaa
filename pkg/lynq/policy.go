package lynq

import "time"

// CreationPolicy says when an object is created or written again.
type CreationPolicy string

// DeletionPolicy says what happens to an object that its node no longer wants.
type DeletionPolicy string

// ConflictPolicy says what happens if another client owns an object or a field.
type ConflictPolicy string

// AdoptionPolicy says what happens to an existing object that doesn't belong to the node. With
// it, ConflictPolicy is about fields only.
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

	AdoptNever     AdoptionPolicy = "Never"     // a conflict, even if the object has no owner
	AdoptIfUnowned AdoptionPolicy = "IfUnowned" // adopted, unless another tool or controller has it
	AdoptAlways    AdoptionPolicy = "Always"    // adopted, or taken over

	OnObjectChange       ReconcilePolicy = "OnObjectChange"       // when its manifest changes
	OnObjectOrNodeChange ReconcilePolicy = "OnObjectOrNodeChange" // or anything else of its row or form
	ReconcileOnce        ReconcilePolicy = "Once"                 // never, like CreateOnce

	PatchApply    PatchStrategy = "apply"
	PatchOverride PatchStrategy = "override" // apply, and lynqctl takes back what client-side tools manage
	PatchMerge    PatchStrategy = "merge"
	PatchReplace  PatchStrategy = "replace"
	PatchRecreate PatchStrategy = "recreate" // deleted and created again if its content changes

	RunOnApply  RunOn = "Apply"
	RunOnDelete RunOn = "Delete" // created when its node goes, and must complete before lynqctl deletes anything of it
)

// CreationPolicies returns all creation policies.
func CreationPolicies() []CreationPolicy { return []CreationPolicy{CreateWhenNeeded, CreateOnce} }

// DeletionPolicies returns all deletion policies.
func DeletionPolicies() []DeletionPolicy {
	return []DeletionPolicy{DeleteDelete, DeleteRetain, DeleteRetainOnApply, DeleteRetainOnDelete}
}

// ConflictPolicies returns all conflict policies.
func ConflictPolicies() []ConflictPolicy { return []ConflictPolicy{ConflictStuck, ConflictForce} }

// PatchStrategies returns all patch strategies.
func PatchStrategies() []PatchStrategy {
	return []PatchStrategy{PatchApply, PatchOverride, PatchMerge, PatchReplace, PatchRecreate}
}

// Lifecycle is the part of a Policy that a node's inventory records. Later runs, and commands
// without inputs, use it. The tags name its fields there.
type Lifecycle struct {
	Creation CreationPolicy `json:"creation,omitempty"`
	Deletion DeletionPolicy `json:"deletion,omitempty"`
	Conflict ConflictPolicy `json:"conflict,omitempty"`
	Patch    PatchStrategy  `json:"patch,omitempty"`
	// DeleteOrder is the wave in which lynqctl deletes the object. The lowest wave comes first,
	// and each wave begins when the node's earlier ones are gone. It is independent of
	// ApplyOrder.
	DeleteOrder int `json:"deleteOrder,omitempty"`
	// Unwaited is set if nothing waits until the object is ready (waitForReady: false).
	Unwaited bool `json:"unwaited,omitempty"`
	// Data is set if the form or the manifest says that a deletion loses more than the object,
	// as with the kinds of Ref.HoldsData.
	Data bool `json:"holdsData,omitempty"`
	// RunOn is RunOnDelete for a hook, "" for all others.
	RunOn RunOn `json:"runOn,omitempty"`
}

// Policy is everything that a form says about a resource, except for its content.
type Policy struct {
	Lifecycle
	// Adoption is "" if the form doesn't say it, see Adopts.
	Adoption AdoptionPolicy
	// OnNodeChange is set if lynqctl also writes the object again when something changes that
	// isn't in its manifest: a mapped column of the row, or the form.
	OnNodeChange bool
	// ReapplyInterval is the time after which lynqctl writes the object again, changed or not.
	// 0 means never.
	ReapplyInterval time.Duration
	// IgnoreFields are RFC 9535 JSONPaths of fields that lynqctl writes only when it creates the
	// object.
	IgnoreFields []string
	// SkipOnDependencyFailure is set if lynqctl skips the resource when a dependency fails.
	SkipOnDependencyFailure bool
	// Timeout limits the wait for readiness, in whole seconds from 1 s to 1 h.
	Timeout time.Duration
	// Readiness has further conditions for being ready, beside those of the kind, or is nil.
	Readiness *Readiness
	// ApplyOrder is the wave in which lynqctl writes the object. It waits for all objects of the
	// node's earlier waves, as for those of its dependIds.
	ApplyOrder int
	// PurgeOrder is the wave at whose end lynqctl deletes the object, because its work is done.
	// It is nil if the object stays.
	PurgeOrder *int
}

// Waves go from LowestWave to HighestWave.
const (
	LowestWave  = -32768
	HighestWave = 32767
)

// Once reports whether lynqctl writes the content of an object only once.
func (c CreationPolicy) Once() bool { return c == CreateOnce }

// Hook reports whether lynqctl runs the object when it deletes the node. Such an object is none
// of those that the node wants.
func (l Lifecycle) Hook() bool { return l.RunOn == RunOnDelete }

// Hook reports the same for the object of the policy. It reports false for nil.
func (p *Policy) Hook() bool { return p != nil && p.Lifecycle.Hook() }

// Content returns the policies that change what lynqctl writes. A change of the others causes
// no write.
func (l Lifecycle) Content() Lifecycle {
	l.DeleteOrder, l.Data = 0, false
	return l
}

// DeletesDesired reports whether a run may delete the object although its node wants it:
// because its work is done, or to create it again.
func (p *Policy) DeletesDesired() bool { return p.PurgeOrder != nil || p.Patch == PatchRecreate }

// TakesAway reports whether a run may remove what others put into the object, because it
// deletes or replaces the object.
func (p *Policy) TakesAway() bool { return p.DeletesDesired() || p.Patch == PatchReplace }

// Adopts returns the adoption policy of the form, or else the one that follows from the
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
