package wellknown

import "strings"

// API group and version of hubs and forms; the Lynq operator's own.
const (
	Group      = "operator.lynq.sh"
	APIVersion = Group + "/v1"
	KindHub    = "LynqHub"
	KindForm   = "LynqForm"
	KindNode   = "LynqNode"
)

// KeyPrefix begins every label and annotation key that Lynq keeps for itself.
const KeyPrefix = "lynq.sh/"

// ApplySetPrefix begins the keys of KEP-3659, which belong to inventories.
const ApplySetPrefix = "applyset.kubernetes.io/"

// Reserved reports whether a label or annotation key is one that Lynq or an
// inventory writes on objects (contract: what is written to the cluster), so
// that no form may. LabelUID, which forms may set, is none of them.
func Reserved(key string) bool {
	name, ours := strings.CutPrefix(key, KeyPrefix)
	if !ours {
		return strings.HasPrefix(key, ApplySetPrefix)
	}
	switch name {
	case "hub", "node", "node-namespace", "record", "template", // labels
		"orphaned", "orphaned-at", "orphaned-reason", "orphaned-from",
		"deletion-policy", "resource-id", "created-once", "adopted", "digest",
		"hubId", "hub-namespace", "template-namespace", "activate", "template-generation", "rollout-update-start", "extra", "depend-forms", "expires", "leaving-since", "leaving-until":
		return true
	}
	return false
}

// Labels and annotations on managed objects (seed: resource lifecycle,
// "Labels Set on Managed Resources"). LabelUID is the only one of them that a
// form may set itself.
const (
	LabelHub           = KeyPrefix + "hub"
	LabelNode          = KeyPrefix + "node"
	LabelNodeNamespace = KeyPrefix + "node-namespace"
	LabelUID           = KeyPrefix + "uid"

	AnnotationUID            = KeyPrefix + "uid"
	AnnotationDeletionPolicy = KeyPrefix + "deletion-policy"
	AnnotationResourceID     = KeyPrefix + "resource-id"
	AnnotationCreatedOnce    = KeyPrefix + "created-once"
	AnnotationAdopted        = KeyPrefix + "adopted"
	// AnnotationDigest has the digest of the manifest that lynqctl wrote last. Unlike an
	// inventory, only somebody who may write the object can change it.
	AnnotationDigest = KeyPrefix + "digest"
)

// AnnotationAdoptionPolicy is another spelling of a resource's adoptionPolicy. It
// is the form's own annotation, and stays on the object.
const AnnotationAdoptionPolicy = KeyPrefix + "adoption-policy"

// Other spellings of a resource's applyOrder, deleteOrder and purgeOrder.
const (
	AnnotationApplyOrder  = KeyPrefix + "apply-order"
	AnnotationDeleteOrder = KeyPrefix + "delete-order"
	AnnotationPurgeOrder  = KeyPrefix + "purge-order"
)

// AnnotationDeletePolicy is another spelling of a resource's deletionPolicy, in which
// Retain may be orphan (seed: dependents). What an object was written with is in
// AnnotationDeletionPolicy.
const AnnotationDeletePolicy = KeyPrefix + "delete-policy"

// AnnotationReconcilePolicy is another spelling of a resource's reconcilePolicy.
const AnnotationReconcilePolicy = KeyPrefix + "reconcile-policy"

// AnnotationReapplyInterval is another spelling of a resource's reapplyInterval.
const AnnotationReapplyInterval = KeyPrefix + "reapply-interval"

// AnnotationUpdatePolicy is another spelling of a resource's patchStrategy, in which
// apply may be ssa-merge, and override ssa-override (seed: dependents).
const AnnotationUpdatePolicy = KeyPrefix + "update-policy"

// AnnotationRunOn is another spelling of a resource's runOn. A hook has it in the
// cluster too, so that all who wait for one know that it has to complete.
const AnnotationRunOn = KeyPrefix + "run-on"

// FieldManager is the name under which lynqctl writes.
const FieldManager = "lynq"

// ManagedBy fills the label app.kubernetes.io/managed-by of a record, and
// ApplySetTooling the annotation applyset.kubernetes.io/tooling.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	ManagedBy      = "lynqctl"
)

// Keys of KEP-3659: on the members of an ApplySet the first, on its parent the
// others.
const (
	LabelPartOf                  = ApplySetPrefix + "part-of"
	LabelApplySetID              = ApplySetPrefix + "id"
	AnnotationApplySetTooling    = ApplySetPrefix + "tooling"
	AnnotationApplySetGroupKinds = ApplySetPrefix + "contains-group-kinds"
	AnnotationApplySetNamespaces = ApplySetPrefix + "additional-namespaces"
)

// Labels and annotations of the records that lynqctl keeps: one ConfigMap per
// node, its inventory, and one per hub.
const (
	LabelRecord   = KeyPrefix + "record"
	RecordNode    = "node"
	RecordHub     = "hub"
	RecordHistory = "history" // of a hub's runs
	RecordPlans   = "plans"   // that ran on a hub
	RecordCopy    = "copy"    // of a node's inventory that is being restored
	RecordHooks   = "hooks"   // a Secret with the manifests of a node's hooks
	LabelTemplate = KeyPrefix + "template"
	// LabelHubNamespace tells hubs of one name apart.
	LabelHubNamespace = KeyPrefix + "hub-namespace"

	AnnotationHubID              = KeyPrefix + "hubId"
	AnnotationActivate           = KeyPrefix + "activate"
	AnnotationTemplateNamespace  = KeyPrefix + "template-namespace"
	AnnotationTemplateGeneration = KeyPrefix + "template-generation"
	AnnotationRolloutUpdateStart = KeyPrefix + "rollout-update-start"
	AnnotationExtra              = KeyPrefix + "extra"
	AnnotationDependForms        = KeyPrefix + "depend-forms"
	AnnotationExpires            = KeyPrefix + "expires"
	AnnotationLeavingSince       = KeyPrefix + "leaving-since"
	AnnotationLeavingUntil       = KeyPrefix + "leaving-until"
	// AnnotationSuspended says that a person keeps lynqctl off the node, as JSON.
	AnnotationSuspended = KeyPrefix + "suspended"

	FinalizerNode = "lynqnode." + Group + "/finalizer"
	FinalizerHub  = KeyPrefix + "hub-finalizer"
)

// AnnotationApproved on the record of a hub has the digest of the deletions that a person
// approves.
const AnnotationApproved = KeyPrefix + "approved"

// AnnotationReconcileAt on the record of a hub has the time at which a person asked watch to
// check the hub.
const AnnotationReconcileAt = KeyPrefix + "reconcile-at"

// Annotations of a Lease. One that is held continuously says so with the value
// HolderContinuous, and names a run that waits until its holder yields. A continuous holder
// that comes back names itself until then. The Lease of a hub names the runs of shards that
// have entered.
const (
	AnnotationHolder  = KeyPrefix + "holder"
	HolderContinuous  = "continuous"
	AnnotationWaiting = KeyPrefix + "waiting"
	AnnotationYielded = KeyPrefix + "yielded"
	AnnotationEntered = KeyPrefix + "entered"
)

// Markers of objects that a node left behind (seed: resource lifecycle, "Orphan
// Markers"), and the reasons.
const (
	LabelOrphaned            = KeyPrefix + "orphaned"
	AnnotationOrphanedAt     = KeyPrefix + "orphaned-at"
	AnnotationOrphanedReason = KeyPrefix + "orphaned-reason"
	AnnotationOrphanedFrom   = KeyPrefix + "orphaned-from"
	// AnnotationHoldsData is "true" on an orphan whose form said holdsData.
	AnnotationHoldsData = KeyPrefix + "holds-data"

	ReasonRemovedFromTemplate = "RemovedFromTemplate"
	ReasonNodeDeleted         = "LynqNodeDeleted"
)

// AnnotationMode with the value ModeUnmanaged keeps lynqctl off a live object.
const (
	AnnotationMode = KeyPrefix + "mode"
	ModeUnmanaged  = "unmanaged"
)

// AnnotationDisabledResources on a hub or a form excludes objects, as its spec.exclude
// does (seed: tombstones and exclusion).
const AnnotationDisabledResources = KeyPrefix + "disabled-resources"

// AnnotationStatusHint says on an object what it takes to be ready, beside what its
// kind tells (seed: dependents). A form's readiness is written to it, so that
// whoever looks at the object later judges it by the same rule.
const AnnotationStatusHint = KeyPrefix + "status-hint"

// AnnotationRenamedFrom on a form says which name the form had before.
const AnnotationRenamedFrom = KeyPrefix + "renamed-from"
