package plan

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/toll"
)

// Action names what a step does to an object.
type Action string

// The actions. All but Keep, Skip and Block change the cluster or the record.
const (
	ActionCreate   Action = "create"   // there is none
	ActionUpdate   Action = "update"   // ours, and not as it is to be
	ActionRecreate Action = "recreate" // ours, and not as it is to be: deleted and created again, where the server says that more than its metadata changes
	ActionAdopt    Action = "adopt"    // without an owner, or an orphan: written, and tracked from now on
	ActionTrack    Action = "track"    // its tracking is put right, its content left alone
	ActionKeep     Action = "keep"     // as it is to be
	ActionSkip     Action = "skip"     // left alone on purpose
	ActionBlock    Action = "block"    // another owner's: a conflict
	ActionDelete   Action = "delete"   // wanted no more
	ActionOrphan   Action = "orphan"   // wanted no more, and retained: marked
	ActionRelease  Action = "release"  // wanted no more, and no longer ours: only the record goes
	ActionPurge    Action = "purge"    // did its work: deleted, and its entry stays
	ActionCollect  Action = "collect"  // wanted no more: left to the garbage collector
)

// Step changes, keeps or skips one object, and says why.
type Step struct {
	Action Action
	Reason reason.Reason
	// Message is for people: who owns it, which policy says so.
	Message string
	// To is the node of the plan that takes the object over, where its own node
	// lets it go.
	To lynq.NodeKey
	// Elsewhere is a hub of the inputs that the run leaves out, and that renders the object,
	// zero for most: a run of both hubs moves it.
	Elsewhere lynq.HubKey
	// Object is what is desired, nil for one that is wanted no more.
	Object *Object
	// Entry is what the inventory has, nil where it has nothing.
	Entry *inventory.Entry
	// Live is what was observed, nil where there is no such object.
	Live *tracking.Live
	// Adopted: the object was there before the node had it.
	Adopted bool
	// InPlace is why an update does not recreate the object although its patchStrategy
	// says so, "" where it may.
	InPlace string
	// Exact: it is deleted only as it was observed, for a copy was made of that.
	Exact bool
	// Stone is the tombstone that names the object, nil for none; IncludeData: a person
	// said to delete what holds data. Both are for objects that no node has.
	Stone       *lynq.Tombstone
	IncludeData bool
}

// Ref names the object of a step.
func (s *Step) Ref() lynq.Ref {
	switch {
	case s.Object != nil:
		return s.Object.Ref
	case s.Entry != nil:
		return s.Entry.Ref
	case s.Live != nil:
		return s.Live.Ref
	}
	return lynq.Ref{}
}

// ID returns the id of the resource in its form.
func (s *Step) ID() string {
	switch {
	case s.Object != nil:
		return s.Object.ID
	case s.Entry != nil:
		return s.Entry.ID
	case s.Live != nil:
		return s.Live.ResourceID
	}
	return ""
}

// ConflictPolicy returns the policy of the object, as the form wants it or the
// inventory records it.
func (s *Step) ConflictPolicy() lynq.ConflictPolicy {
	switch {
	case s.Object != nil && s.Object.Policy != nil:
		return s.Object.Policy.Conflict
	case s.Entry != nil:
		return s.Entry.Conflict
	}
	return ""
}

// UID is the precondition of a step: the object that was observed.
func (s *Step) UID() types.UID {
	if s.Live == nil {
		return ""
	}
	return s.Live.UID
}

// Changes tells whether a step changes an object that its node has or gives up.
func (s *Step) Changes() bool {
	switch s.Action {
	case ActionCreate, ActionUpdate, ActionRecreate, ActionAdopt, ActionTrack, ActionDelete, ActionOrphan:
		return true
	}
	return false
}

// ChangesContent tells whether a step changes more of an object than by what it is
// tracked.
func (s *Step) ChangesContent() bool { return s.Changes() && s.Action != ActionTrack }

// NodePlan lists the steps of one node.
type NodePlan struct {
	lynq.NodeID
	// Desired is nil for a node that goes.
	Desired *Node
	// Deleted: the node goes since it, or its record, was deleted by hand.
	Deleted bool
	// Next is the node that the node goes on as, zero for most. Its objects move there, as
	// far as that renders them.
	Next lynq.NodeKey
	// Replacement is how the node's inventory is replaced that was deleted while its row
	// wants it, nil for most. The new one has what was recorded, and nothing is deleted.
	Replacement *Replacement
	// Cascade is how the objects of a node that goes are deleted.
	Cascade Cascade
	// NamespaceDefaults is what its hub says is in namespaces by itself.
	NamespaceDefaults []lynq.NamespaceDefault
	// Inventory is what is recorded, nil for a new node.
	Inventory *inventory.Inventory
	// After are the nodes of the plan that go before: those that must be ready before
	// this one is written, or gone before it goes (dependForms).
	After []lynq.NodeKey
	// Strays are objects that refer to the inventory, and that it doesn't list: a person copied
	// an object with its metadata. The garbage collector would delete them with the inventory.
	// So their owner reference comes off before that goes, and before it lists no object of
	// their kind any more: no later run would look for them.
	Strays []*tracking.Live
	// Unmet is why nothing is done with the node in this run: a node that is not of the
	// plan would have to go before. "" for most.
	Unmet string
	// Steps are in the order of the desired objects, then those of the objects
	// that leave, in the order in which they may go.
	Steps []Step
}

// Moves tells whether the node goes on as another one.
func (p *NodePlan) Moves() bool { return p.Next != (lynq.NodeKey{}) }

// Cascade says how lynqctl deletes the objects of a node that leaves.
type Cascade string

// The ways, with kubectl's names for those that a person may ask for.
const (
	// CascadeOrdered deletes what is to be deleted, each object when all that
	// depend on it are gone.
	CascadeOrdered Cascade = ""
	// CascadeBackground leaves the objects to the garbage collector that it deletes
	// all the same, and waits for none of those.
	CascadeBackground Cascade = "background"
	// CascadeForeground is CascadeOrdered, and an object counts as gone when
	// what belongs to it is gone too.
	CascadeForeground Cascade = "foreground"
	// CascadeOrphan deletes nothing: all objects become orphans.
	CascadeOrphan Cascade = "orphan"
)

// Plan lists the steps for the nodes of one hub.
type Plan struct {
	Hub   lynq.HubKey
	Nodes []NodePlan
	// Leaving are the nodes that are kept for their grace period, and LeavingRecord is what
	// the record of the hub has of them from now on.
	Leaving       []Leaving
	LeavingRecord []inventory.Leaving
	// Gone are the nodes that Input.Gone names: nothing is left to do for them, but to
	// forget them.
	Gone []lynq.NodeKey
	// Whole: every node that is recorded is in it, or in what is held.
	Whole bool
	// After: it is carried out when the others have ended, each of its nodes only where
	// the node of that name there ended well.
	After bool
	// Record is the uid of the hub's record, "" where there is none: what becomes of
	// tombstones is told there.
	Record string
	// Evidence is how the rows differ from those of the last run, nil where rows have no
	// part in the plan.
	Evidence *evidence.Evidence
	// Refusals are why the plan must not run.
	Refusals []Refusal
	// Held is what was left out of it so that it may, nil for nothing.
	Held *Held
	// Losses are the nodes that --max-delete counts: those that go, and those that lose
	// objects. It is nil where there is no window to record them for.
	Losses []lynq.NodeKey
	Counts map[Action]int
	// Adopted counts those of the objects that leave which were adopted.
	Adopted map[Action]int
	// Rules are what the plan was decided by, for steps that are decided again when
	// their turn comes; nil for the orphans that a person prunes.
	Rules Rules
}

// Rules holds what a plan was decided by. Package decide makes the rules and reads them
// back, and takes no others.
type Rules interface {
	// IncludesData tells whether a person said to delete what holds data.
	IncludesData() bool
}

// Count counts the steps.
func (p *Plan) Count() {
	p.Counts, p.Adopted = map[Action]int{}, map[Action]int{}
	for i := range p.Nodes {
		for j := range p.Nodes[i].Steps {
			s := &p.Nodes[i].Steps[j]
			p.Counts[s.Action]++
			if s.Object == nil && s.Adopted {
				p.Adopted[s.Action]++
			}
		}
	}
}

// Guard names a rule that refuses a plan.
type Guard = toll.Guard

// The guards (contract section 5).
const (
	GuardEmpty     Guard = "allow-empty" // a hub with nodes yields no active row
	GuardMaxDelete Guard = "max-delete"  // too many of a hub's nodes would go
	GuardOperator  Guard = "operator"    // the operator manages the hub's nodes
	GuardLock      Guard = "lock"        // another run holds the hub
	GuardWatched   Guard = "watched"     // lynqctl watch has the hub in its inputs
	GuardDeleting  Guard = "deleting"    // the hub's record was deleted
	GuardPlan      Guard = "plan"        // what a plan file depends on changed since
	GuardDependent Guard = "dependents"  // nodes that depend on those that go would stay
	// GuardMaxChange and GuardEmptyColumn are about nodes that stay.
	GuardMaxChange   Guard = "max-change"         // too many of a hub's nodes would change
	GuardEmptyColumn Guard = "allow-empty-column" // a column that a form uses is suddenly empty
)

// Refusal says why a guard refuses a plan, and what to do about it.
type Refusal = toll.Refusal

// Applies tells whether a step writes by server-side apply an object that is there.
func (s *Step) Applies() bool { return s.Object.Applied(s.Adopted) }

// Applied tells whether an object is written by server-side apply: by its
// strategy, or because a replacement is for objects that we made. One that was
// adopted has fields that the form never set, and those stay: the form's fields
// alone are what it says, and go when it drops them.
func (o *Object) Applied(adopted bool) bool {
	switch o.Policy.Patch {
	case lynq.PatchApply, lynq.PatchOverride, lynq.PatchRecreate:
		return true
	case lynq.PatchReplace:
		return adopted
	}
	return false
}

// Overrides tells whether a write to an object that is there takes fields back from
// client-side tools, whoever made the object.
func (o *Object) Overrides(l *tracking.Live) bool {
	return o.Policy.Patch == lynq.PatchOverride && l.ClientSide
}
