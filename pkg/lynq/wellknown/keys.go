package wellknown

import "strings"

// The API group and version of hubs and forms, which are those of the Lynq operator.
const (
	Group      = "operator.lynq.sh"
	APIVersion = Group + "/v1"
	KindHub    = "LynqHub"
	KindForm   = "LynqForm"
	KindNode   = "LynqNode"
)

// KeyPrefix begins every label and annotation key that belongs to Lynq.
const KeyPrefix = "lynq.sh/"

// ApplySetPrefix begins the keys of KEP-3659, which belong to inventories.
const ApplySetPrefix = "applyset.kubernetes.io/"

// Reserved reports whether Lynq or an inventory writes a label or annotation key on
// objects (contract: what is written to the cluster), so that no form may. Forms may set
// LabelUID.
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
// "Labels Set on Managed Resources"). A form may set only
// LabelUID itself.
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

// AnnotationAdoptionPolicy is another spelling of a resource's adoptionPolicy. The form sets it,
// and it stays on the object.
const AnnotationAdoptionPolicy = KeyPrefix + "adoption-policy"

// Other spellings of a resource's applyOrder, deleteOrder and purgeOrder.
const (
	AnnotationApplyOrder  = KeyPrefix + "apply-order"
	AnnotationDeleteOrder = KeyPrefix + "delete-order"
	AnnotationPurgeOrder  = KeyPrefix + "purge-order"
)

// AnnotationDeletePolicy is another spelling of a resource's deletionPolicy, in which
// Retain may be orphan (seed: dependents). AnnotationDeletionPolicy has the policy of the last
// write.
const AnnotationDeletePolicy = KeyPrefix + "delete-policy"

// AnnotationReconcilePolicy is another spelling of a resource's reconcilePolicy.
const AnnotationReconcilePolicy = KeyPrefix + "reconcile-policy"

// AnnotationReapplyInterval is another spelling of a resource's reapplyInterval.
const AnnotationReapplyInterval = KeyPrefix + "reapply-interval"

// AnnotationUpdatePolicy is another spelling of a resource's patchStrategy, in which
// apply may be ssa-merge, and override ssa-override (seed: dependents).
const AnnotationUpdatePolicy = KeyPrefix + "update-policy"

// AnnotationRunOn is another spelling of a resource's runOn. A hook has it in the
// cluster, too, so that everybody who waits for it knows that it must complete.
const AnnotationRunOn = KeyPrefix + "run-on"

// FieldManager is the name under which lynqctl writes.
const FieldManager = "lynq"

// ManagedBy fills the label app.kubernetes.io/managed-by of a record, and
// ApplySetTooling the annotation applyset.kubernetes.io/tooling.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	ManagedBy      = "lynqctl"
)

// Keys of KEP-3659. Members of an ApplySet have the first one, and its parent has the others.
const (
	LabelPartOf                  = ApplySetPrefix + "part-of"
	LabelApplySetID              = ApplySetPrefix + "id"
	AnnotationApplySetTooling    = ApplySetPrefix + "tooling"
	AnnotationApplySetGroupKinds = ApplySetPrefix + "contains-group-kinds"
	AnnotationApplySetNamespaces = ApplySetPrefix + "additional-namespaces"
)

// Labels and annotations of lynqctl's records: the ConfigMaps with the inventory of a node, and
// those with the record of a hub.
const (
	LabelRecord   = KeyPrefix + "record"
	RecordNode    = "node"
	RecordHub     = "hub"
	RecordHistory = "history" // of a hub's runs
	RecordPlans   = "plans"   // that ran on a hub
	RecordCopy    = "copy"    // of a node's inventory that is being restored
	RecordHooks   = "hooks"   // a Secret with the manifests of a node's hooks
	LabelTemplate = KeyPrefix + "template"
	// LabelHubNamespace distinguishes hubs with one name.
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
	// AnnotationSuspended says as JSON that a person suspended the node.
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

// Annotations of a Lease. If a watch holds it, it has the value HolderContinuous, and names a run
// that waits until the holder yields. A continuous holder
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

// AnnotationMode with the value ModeUnmanaged makes lynqctl leave a live object alone.
const (
	AnnotationMode = KeyPrefix + "mode"
	ModeUnmanaged  = "unmanaged"
)

// AnnotationDisabledResources on a hub or a form excludes objects, as its spec.exclude
// does (seed: tombstones and exclusion).
const AnnotationDisabledResources = KeyPrefix + "disabled-resources"

// AnnotationStatusHint has further conditions for an object to be ready, beside those of its kind
// (seed: dependents). lynqctl writes a form's readiness to it, so that later readers of the
// object use the same conditions.
const AnnotationStatusHint = KeyPrefix + "status-hint"

// AnnotationRenamedFrom on a form says which name the form had before.
const AnnotationRenamedFrom = KeyPrefix + "renamed-from"
