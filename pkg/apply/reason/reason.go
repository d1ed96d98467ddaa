package reason

// Reason says why a step is what it is. Scripts may compare reasons.
type Reason string

// The reasons.
const (
	New          Reason = "New"          // never written
	Vanished     Reason = "Vanished"     // was written, is gone
	Replaced     Reason = "Replaced"     // it was deleted and created again
	Changed      Reason = "Changed"      // rows, form or policies changed
	Drifted      Reason = "Drifted"      // others changed what is ours
	Due          Reason = "Due"          // its last write is as long ago as its reapplyInterval
	Unconfirmed  Reason = "Unconfirmed"  // an earlier run did not see its write end well
	Untracked    Reason = "Untracked"    // its tracking is missing or out of date
	Orphan       Reason = "Orphan"       // an orphan comes back
	Unowned      Reason = "Unowned"      // exists, and no other has it: adopted, or, where the policy is Never, a conflict
	Moved        Reason = "Moved"        // another node of the run had it, and gives it away
	Takeover     Reason = "Takeover"     // is another owner's, and Force takes it
	UpToDate     Reason = "UpToDate"     // nothing to do
	CreatedOnce  Reason = "CreatedOnce"  // was created, and is left alone ever since
	Completed    Reason = "Completed"    // did its work, and is purged (purgeOrder)
	Unmanaged    Reason = "Unmanaged"    // has lynq.sh/mode: unmanaged
	LeftOut      Reason = "LeftOut"      // a selector leaves it out
	Excluded     Reason = "Excluded"     // a rule of the hub or the form excludes it
	Foreign      Reason = "Foreign"      // is another owner's
	Deleting     Reason = "Deleting"     // is being deleted
	Removed      Reason = "Removed"      // the form no longer has it
	NotIncluded  Reason = "NotIncluded"  // the form has it, and the row no longer does (includeWhen)
	Renamed      Reason = "Renamed"      // its node goes on by another name, and no longer has it
	Leftover     Reason = "Leftover"     // a hook made it before its node came back
	BeforeDelete Reason = "BeforeDelete" // a hook, which runs before anything of its node is deleted
	Undeclared   Reason = "Undeclared"   // a hook that only a record names, which is never enough to run it
	NotRun       Reason = "NotRun"       // a hook of a node of which nothing is deleted
	NodeGone     Reason = "NodeGone"     // the row is inactive or gone
	NodeDeleted  Reason = "NodeDeleted"  // the node, or its record, was deleted by hand
	GivenUp      Reason = "GivenUp"      // its cleanup fails, and a person said to leave it behind
	Tombstone    Reason = "Tombstone"    // a tombstone names it
	OtherLabels  Reason = "OtherLabels"  // a tombstone names it, and it has not all of its labels
	Pruned       Reason = "Pruned"       // an orphan that a person wants no more
	RowUnknown   Reason = "RowUnknown"   // a row that could not be rendered may want it
	Rendered     Reason = "Rendered"     // another row of the inputs renders it
	Held         Reason = "Held"         // a guard refuses deletions, and the rest is done
	Grace        Reason = "Grace"        // its node is kept for its grace period
	FormOrder    Reason = "FormOrder"    // dependForms: a node that this run leaves out goes before
	AlreadyGone  Reason = "AlreadyGone"  // wanted no more, and gone
	TakenOver    Reason = "TakenOver"    // wanted no more, and no longer has our tracking
	Unknown      Reason = "Unknown"      // it is not known whether it is there
	NamespaceNew Reason = "NamespaceNew" // for a server dry run: its namespace comes into being first
	KindNew      Reason = "KindNew"      // for a server dry run: its kind comes into being first
)

// NodeStays tells of the reason why an object goes whether its node stays.
func (r Reason) NodeStays() bool {
	return r == Removed || r == NotIncluded || r == Leftover || r == Renamed
}
