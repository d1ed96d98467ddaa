package lynq

import "time"

// CreationPolicy says when an object is created or written again.
type CreationPolicy string

// DeletionPolicy says what happens to an object that its node no longer wants.
type DeletionPolicy string

// ConflictPolicy says what happens when somebody else owns an object or field.
type ConflictPolicy string

// PatchStrategy says how an existing object is updated.
type PatchStrategy string

// The values of the four policies (seed: policies guide).
const (
	CreateWhenNeeded CreationPolicy = "WhenNeeded"
	CreateOnce       CreationPolicy = "Once"

	DeleteDelete DeletionPolicy = "Delete"
	DeleteRetain DeletionPolicy = "Retain"

	ConflictStuck ConflictPolicy = "Stuck"
	ConflictForce ConflictPolicy = "Force"

	PatchApply   PatchStrategy = "apply"
	PatchMerge   PatchStrategy = "merge"
	PatchReplace PatchStrategy = "replace"
)

// Policy is everything a form says about the life of one resource, beside its
// content.
type Policy struct {
	Creation CreationPolicy
	Deletion DeletionPolicy
	Conflict ConflictPolicy
	Patch    PatchStrategy
	// IgnoreFields are RFC 9535 JSONPaths, left alone after the first creation.
	IgnoreFields []string
	// SkipOnDependencyFailure: a failed dependency keeps the resource from
	// being applied.
	SkipOnDependencyFailure bool
	// WaitForReady: dependents wait until the resource is ready.
	WaitForReady bool
	// Timeout is how long the wait may last; whole seconds, 1 s to 1 h.
	Timeout time.Duration
}

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
