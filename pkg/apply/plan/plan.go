package plan

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// Action names the change that a step makes to an object.
type Action string

// The actions. All except Keep, Skip and Block change the cluster or the inventory.
const (
	ActionCreate   Action = "create"   // the object doesn't exist
	ActionUpdate   Action = "update"   // ours, but not in its desired state
	ActionRecreate Action = "recreate" // like update, but lynqctl deletes and creates it again if the server says that more than metadata changes
	ActionAdopt    Action = "adopt"    // an object without owner, or an orphan: lynqctl writes it and tracks it from now on
	ActionTrack    Action = "track"    // lynqctl fixes its tracking, and leaves its content alone
	ActionKeep     Action = "keep"     // in its desired state
	ActionSkip     Action = "skip"     // left alone on purpose
	ActionBlock    Action = "block"    // a conflict, because the object has another owner
	ActionDelete   Action = "delete"   // no longer desired
	ActionOrphan   Action = "orphan"   // no longer desired, and retained: lynqctl marks it
	ActionRelease  Action = "release"  // no longer desired, and no longer ours: lynqctl only drops the entry
	ActionPurge    Action = "purge"    // did its work: lynqctl deletes it, and keeps the entry
	ActionCollect  Action = "collect"  // no longer desired: lynqctl leaves it to the garbage collector
)

// Step changes, keeps or skips one object, and says why.
type Step struct {
	Action Action
	Reason Reason
	// Message is for people. It names, for example, the owner or the policy.
	Message string
	// Cause says why lynqctl renders the object otherwise than at the last write, as diff says
	// it. It is "" if nobody looked.
	Cause string
	// To is the node of the plan that takes the object over, and nil unless its own node
	// gives it away.
	To *lynq.NodeKey
	// Elsewhere is a hub outside the run that renders the object, and usually nil. A run of
	// both hubs moves the object.
	Elsewhere *lynq.HubKey
	// Object is the desired state, nil if the object isn't desired.
	Object *Object
	// Entry is the entry in the inventory, or nil.
	Entry *inventory.Entry
	// Live is the observed object, nil if it doesn't exist.
	Live *tracking.Live
	// Adopted is set if the object existed before the node owned it.
	Adopted bool
	// InPlace says why an update doesn't recreate the object despite its patchStrategy. It
	// is "" if the update may.
	InPlace string
	// Exact is set if lynqctl may only delete the observed version, because it made a copy
	// of that one.
	Exact bool
	// Stone is the tombstone that names the object, or nil. IncludeData is set if the user
	// passed the flag to delete data. Both are for objects without a node.
	Stone       *lynq.Tombstone
	IncludeData bool
	// WrittenAs is another name of the object, under which this run wrote it, or "".
	WrittenAs string
}

// Ref returns the reference to the step's object.
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

// ConflictPolicy returns the policy of the object, from the form or else from the
// inventory.
func (s *Step) ConflictPolicy() lynq.ConflictPolicy {
	switch {
	case s.Object != nil && s.Object.Policy != nil:
		return s.Object.Policy.Conflict
	case s.Entry != nil:
		return s.Entry.Conflict
	}
	return ""
}

// UID returns the uid of the observed object, which is a precondition of the step.
func (s *Step) UID() types.UID {
	if s.Live == nil {
		return ""
	}
	return s.Live.UID
}

// Changes reports whether a step changes an object that its node owns or gives up.
func (s *Step) Changes() bool {
	switch s.Action {
	case ActionCreate, ActionUpdate, ActionRecreate, ActionAdopt, ActionTrack, ActionDelete, ActionOrphan:
		return true
	}
	return false
}

// ChangesContent reports whether a step changes more of an object than its tracking.
func (s *Step) ChangesContent() bool { return s.Changes() && s.Action != ActionTrack }

// NodePlan has the steps of one node.
type NodePlan struct {
	lynq.NodeID
	// Desired is nil for a node that lynqctl deletes.
	Desired *Node
	// Deleted is set if lynqctl deletes the node because somebody deleted it or its
	// inventory.
	Deleted bool
	// Next is the node that continues this one, and usually zero. Objects move there if
	// that node renders them.
	Next lynq.NodeKey
	// Replacement describes how to replace an inventory that somebody deleted although the
	// row exists. It is nil for most nodes. The new inventory has the same entries, and
	// lynqctl deletes no objects.
	Replacement *Replacement
	// Cascade says how lynqctl deletes the objects of a deleted node.
	Cascade Cascade
	// NamespaceDefaults are the objects that every namespace has by itself, according to
	// the hub.
	NamespaceDefaults []lynq.NamespaceDefault
	// Inventory is the recorded inventory, nil for a new node.
	Inventory *inventory.Inventory
	// After are the nodes of the plan that come first (dependForms). They must be ready
	// before lynqctl writes this node, or deleted before it deletes this node.
	After []lynq.NodeKey
	// Unlisted objects refer to the inventory, which doesn't list them, because somebody copied an
	// object with its metadata. The garbage collector would delete them with the inventory.
	// So lynqctl removes their owner reference before it deletes the inventory, and before
	// the inventory drops the last object of their kind. No later run would find them.
	Unlisted []Unlisted
	// Unmet says why the run skips the node. It is usually "". A node outside the plan
	// would have to come first.
	Unmet string
	// Suspended is set if the node is skipped because a person suspended it. That is no
	// failure.
	Suspended bool
	// Steps has the desired objects in their order, and then the objects to delete in the
	// order of their deletion.
	Steps []Step
}

// Moves reports whether another node continues this one.
func (p *NodePlan) Moves() bool { return p.Next != (lynq.NodeKey{}) }

// Cascade says how lynqctl deletes the objects of a node.
type Cascade string

// The ways to delete objects. Those that users can choose have kubectl's names.
const (
	// CascadeOrdered deletes each object after its dependents have been deleted.
	CascadeOrdered Cascade = ""
	// CascadeBackground leaves objects to the garbage collector if it deletes them anyway,
	// and doesn't wait for these.
	CascadeBackground Cascade = "background"
	// CascadeForeground works like CascadeOrdered, but also waits until the objects that an
	// object owns are deleted.
	CascadeForeground Cascade = "foreground"
	// CascadeOrphan deletes nothing, and makes all objects orphans.
	CascadeOrphan Cascade = "orphan"
)

// Plan has the steps for the nodes of one hub.
type Plan struct {
	Hub   lynq.HubKey
	Nodes []NodePlan
	// Leaving are the nodes in their grace period. LeavingRecord is the new list of them
	// for the hub record.
	Leaving       []Leaving
	LeavingRecord []inventory.Leaving
	// Gone are the nodes from Scope.Gone of the input. lynqctl only has to forget them.
	Gone []lynq.NodeKey
	// Whole is set if every node with an inventory is in the plan or in Held.
	Whole bool
	// After is set if the plan runs after the others. Each of its nodes runs only if the
	// node with the same name succeeded there.
	After bool
	// Record is the uid of the hub record, or "". Results of tombstones are recorded there.
	Record string
	// Evidence describes how the rows differ from those of the last run. It is nil if the
	// plan doesn't depend on rows.
	Evidence *evidence.Evidence
	// Refusals say why the plan must not run.
	Refusals []Refusal
	// Held has the parts that guards removed so that the rest may run, or nil.
	Held *Held
	// Losses are the nodes that --max-delete counts: deleted nodes and nodes that lose
	// objects. It is nil if no window records them.
	Losses []lynq.NodeKey
	Counts map[Action]int
	// Adopted counts the adopted objects among those that leave, by action.
	Adopted map[Action]int
	// Rules are the rules behind the plan, so that a step can be decided again in its turn.
	// It is nil for orphans that the user prunes.
	Rules Rules
}

// Rules are the rules behind a plan. Package decide makes them and reads them back, and
// accepts no others.
type Rules interface {
	// IncludesData reports whether the user passed the flag to delete data.
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
type Guard = limits.Guard

// The guards (contract section 5).
const (
	GuardEmpty     Guard = "allow-empty" // a hub with nodes has no active row
	GuardMaxDelete Guard = "max-delete"  // the plan deletes too many of a hub's nodes
	GuardOperator  Guard = "operator"    // the Lynq operator manages the hub's nodes
	GuardLock      Guard = "lock"        // another run has the hub's Lease
	GuardWatched   Guard = "watched"     // lynqctl watch keeps the hub
	GuardDeleting  Guard = "deleting"    // somebody deleted the hub record
	GuardPlan      Guard = "plan"        // the cluster, rows or forms changed since the plan file
	GuardDependent Guard = "dependents"  // nodes that are kept depend on deleted nodes
	GuardSuspended Guard = "suspended"   // a person suspended a node that the plan deletes
	GuardFailOn    Guard = "fail-on"     // the changes have findings that a person asked to refuse
	// GuardMaxChange and GuardEmptyColumn are about nodes that lynqctl keeps.
	GuardMaxChange   Guard = "max-change"         // the plan changes too many of a hub's nodes
	GuardEmptyColumn Guard = "allow-empty-column" // a column that a form uses is suddenly empty
)

// Refusal says why a guard refuses a plan, and how to fix that.
type Refusal = limits.Refusal

// Applies reports whether a step writes an existing object by server-side apply.
func (s *Step) Applies() bool { return s.Object.Applied(s.Adopted) }

// Applied reports whether lynqctl writes an object by server-side apply. It does so by
// strategy, and for an adopted object instead of a replacement. An adopted object has
// fields that the form never set. Those are kept, and lynqctl removes only fields that the
// form drops.
func (o *Object) Applied(adopted bool) bool {
	switch o.Policy.Patch {
	case lynq.PatchApply, lynq.PatchOverride, lynq.PatchRecreate:
		return true
	case lynq.PatchReplace:
		return adopted
	}
	return false
}

// Overrides reports whether a write takes fields back from client-side tools. It doesn't
// matter who created the object.
func (o *Object) Overrides(l *tracking.Live) bool {
	return o.Policy.Patch == lynq.PatchOverride && l.ClientSide
}
