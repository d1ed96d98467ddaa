package plan

// Reason names the cause of a step. Scripts may compare reasons.
type Reason string

// The reasons.
const (
	ReasonNew          Reason = "New"          // lynqctl never wrote it
	ReasonVanished     Reason = "Vanished"     // lynqctl wrote it, and it is missing
	ReasonReplaced     Reason = "Replaced"     // somebody deleted it and created it again
	ReasonChanged      Reason = "Changed"      // rows, form or policies changed
	ReasonDrifted      Reason = "Drifted"      // another client changed fields that lynqctl manages
	ReasonDue          Reason = "Due"          // its reapplyInterval has passed since its last write
	ReasonUnconfirmed  Reason = "Unconfirmed"  // an earlier run was interrupted while writing it
	ReasonUntracked    Reason = "Untracked"    // its tracking is missing or out of date
	ReasonOrphan       Reason = "Orphan"       // the node takes an orphan back
	ReasonUnowned      Reason = "Unowned"      // it exists without an owner: adopted, or a conflict with policy Never
	ReasonMoved        Reason = "Moved"        // another node of the run owned it, and gives it away
	ReasonTakeover     Reason = "Takeover"     // it has another owner, and Force takes it
	ReasonUpToDate     Reason = "UpToDate"     // nothing to do
	ReasonCreatedOnce  Reason = "CreatedOnce"  // lynqctl created it once, and doesn't change it since
	ReasonCompleted    Reason = "Completed"    // it did its work, and lynqctl purges it (purgeOrder)
	ReasonUnmanaged    Reason = "Unmanaged"    // it has lynq.sh/mode: unmanaged
	ReasonLeftOut      Reason = "LeftOut"      // a selector leaves it out
	ReasonExcluded     Reason = "Excluded"     // a rule of the hub or the form excludes it
	ReasonForeign      Reason = "Foreign"      // it has another owner
	ReasonDeleting     Reason = "Deleting"     // somebody is deleting it
	ReasonRemoved      Reason = "Removed"      // the form no longer has it
	ReasonNotIncluded  Reason = "NotIncluded"  // the form has it, but the row doesn't (includeWhen)
	ReasonRenamed      Reason = "Renamed"      // its node has a new name, and no longer has it
	ReasonLeftover     Reason = "Leftover"     // a hook created it before its node came back
	ReasonBeforeDelete Reason = "BeforeDelete" // a hook, which runs before lynqctl deletes anything of its node
	ReasonUndeclared   Reason = "Undeclared"   // a hook that only a record names, which is never enough to run it
	ReasonNotRun       Reason = "NotRun"       // a hook, but lynqctl deletes nothing of its node
	ReasonNodeGone     Reason = "NodeGone"     // the row is inactive or deleted
	ReasonNodeDeleted  Reason = "NodeDeleted"  // somebody deleted the node, or its inventory
	ReasonGivenUp      Reason = "GivenUp"      // its cleanup fails, and the user passed a flag to leave it behind
	ReasonTombstone    Reason = "Tombstone"    // a tombstone names it
	ReasonOtherLabels  Reason = "OtherLabels"  // a tombstone names it, but it lacks some of the tombstone's labels
	ReasonPruned       Reason = "Pruned"       // the user deletes an orphan
	ReasonRowUnknown   Reason = "RowUnknown"   // a row that failed to render may need it
	ReasonRendered     Reason = "Rendered"     // another row renders it
	ReasonHeld         Reason = "Held"         // a guard holds deletions, and the run does the rest
	ReasonSuspended    Reason = "Suspended"    // a person suspended its node
	ReasonGrace        Reason = "Grace"        // its node is in its grace period
	ReasonFormOrder    Reason = "FormOrder"    // dependForms: a node that this run leaves out comes first
	ReasonAlreadyGone  Reason = "AlreadyGone"  // it isn't desired, and doesn't exist
	ReasonTakenOver    Reason = "TakenOver"    // it isn't desired, and no longer has our tracking
	ReasonUnknown      Reason = "Unknown"      // lynqctl doesn't know whether it exists
	ReasonNamespaceNew Reason = "NamespaceNew" // for a server dry run: the run creates its namespace first
	ReasonFormStopped  Reason = "FormStopped"  // for a node: the first nodes of its form all failed for one cause
	ReasonKindNew      Reason = "KindNew"      // for a server dry run: the run creates its kind first
)

// NodeStays reports whether lynqctl keeps the node of an object that it deletes for this
// reason.
func (r Reason) NodeStays() bool {
	return r == ReasonRemoved || r == ReasonNotIncluded || r == ReasonLeftover || r == ReasonRenamed
}
