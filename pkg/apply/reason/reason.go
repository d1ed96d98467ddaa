package reason

// Reason names the cause of a step. Scripts may compare reasons.
type Reason string

// The reasons.
const (
	New          Reason = "New"          // lynqctl never wrote it
	Vanished     Reason = "Vanished"     // lynqctl wrote it, and it is missing
	Replaced     Reason = "Replaced"     // somebody deleted it and created it again
	Changed      Reason = "Changed"      // rows, form or policies changed
	Drifted      Reason = "Drifted"      // another client changed fields that lynqctl manages
	Due          Reason = "Due"          // its reapplyInterval has passed since its last write
	Unconfirmed  Reason = "Unconfirmed"  // an earlier run was interrupted while writing it
	Untracked    Reason = "Untracked"    // its tracking is missing or out of date
	Orphan       Reason = "Orphan"       // the node takes an orphan back
	Unowned      Reason = "Unowned"      // it exists without an owner: adopted, or a conflict with policy Never
	Moved        Reason = "Moved"        // another node of the run owned it, and gives it away
	Takeover     Reason = "Takeover"     // it has another owner, and Force takes it
	UpToDate     Reason = "UpToDate"     // nothing to do
	CreatedOnce  Reason = "CreatedOnce"  // lynqctl created it once, and doesn't change it since
	Completed    Reason = "Completed"    // it did its work, and lynqctl purges it (purgeOrder)
	Unmanaged    Reason = "Unmanaged"    // it has lynq.sh/mode: unmanaged
	LeftOut      Reason = "LeftOut"      // a selector leaves it out
	Excluded     Reason = "Excluded"     // a rule of the hub or the form excludes it
	Foreign      Reason = "Foreign"      // it has another owner
	Deleting     Reason = "Deleting"     // somebody is deleting it
	Removed      Reason = "Removed"      // the form no longer has it
	NotIncluded  Reason = "NotIncluded"  // the form has it, but the row doesn't (includeWhen)
	Renamed      Reason = "Renamed"      // its node has a new name, and no longer has it
	Leftover     Reason = "Leftover"     // a hook created it before its node came back
	BeforeDelete Reason = "BeforeDelete" // a hook, which runs before lynqctl deletes anything of its node
	Undeclared   Reason = "Undeclared"   // a hook that only a record names, which is never enough to run it
	NotRun       Reason = "NotRun"       // a hook, but lynqctl deletes nothing of its node
	NodeGone     Reason = "NodeGone"     // the row is inactive or deleted
	NodeDeleted  Reason = "NodeDeleted"  // somebody deleted the node, or its inventory
	GivenUp      Reason = "GivenUp"      // its cleanup fails, and the user passed a flag to leave it behind
	Tombstone    Reason = "Tombstone"    // a tombstone names it
	OtherLabels  Reason = "OtherLabels"  // a tombstone names it, but it lacks some of the tombstone's labels
	Pruned       Reason = "Pruned"       // the user deletes an orphan
	RowUnknown   Reason = "RowUnknown"   // a row that failed to render may need it
	Rendered     Reason = "Rendered"     // another row renders it
	Held         Reason = "Held"         // a guard holds deletions, and the run does the rest
	Suspended    Reason = "Suspended"    // a person suspended its node
	Grace        Reason = "Grace"        // its node is in its grace period
	FormOrder    Reason = "FormOrder"    // dependForms: a node that this run leaves out comes first
	AlreadyGone  Reason = "AlreadyGone"  // it isn't desired, and doesn't exist
	TakenOver    Reason = "TakenOver"    // it isn't desired, and no longer has our tracking
	Unknown      Reason = "Unknown"      // lynqctl doesn't know whether it exists
	NamespaceNew Reason = "NamespaceNew" // for a server dry run: the run creates its namespace first
	FormStopped  Reason = "FormStopped"  // for a node: the first nodes of its form all failed for one cause
	KindNew      Reason = "KindNew"      // for a server dry run: the run creates its kind first
)

// NodeStays reports whether lynqctl keeps the node of an object that it deletes for this
// reason.
func (r Reason) NodeStays() bool {
	return r == Removed || r == NotIncluded || r == Leftover || r == Renamed
}
