package handover

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Found is an object that a LynqNode wants or wanted, as lynqctl found it.
type Found struct {
	lynq.Ref
	Served     lynq.APIResource
	APIVersion string // with which the operator writes it
	ID         string
	lynq.Lifecycle
	Order int
	// Dropped is set if the LynqNode no longer wants it, and the operator hasn't deleted it
	// yet.
	Dropped bool
	// Meta is nil if the object doesn't exist, or if Err says why nobody knows.
	Meta *metav1.PartialObjectMetadata
	Err  error
}

// owned reports whether the object gets an owner reference to the node's inventory. Other
// objects have labels instead.
func (f *Found) owned(n *Node) bool {
	return f.Namespace == n.Namespace && !f.Deletion.Kept().WhenNodeGoes
}

// Object is an object of a LynqNode, with the step of apply that takes it over:
//
//   - ActionTrack: it belongs to the LynqNode, and lynqctl takes it over.
//   - ActionKeep: lynqctl took it over before.
//   - ActionSkip: it doesn't belong to the LynqNode, or doesn't exist. lynqctl leaves it alone.
//   - ActionBlock: lynqctl can't take it over, and its LynqNode stays.
type Object struct {
	Found
	Step plan.Step
}

// judge decides what becomes of an object. It is a pure function. record is the uid of the
// node's inventory, "" if it doesn't exist yet.
func judge(n *Node, f Found, record types.UID) Object {
	if f.Err != nil {
		return f.becomes(plan.ActionBlock, ReasonUnreadable, f.Err.Error())
	}
	if f.Meta == nil {
		return f.becomes(plan.ActionSkip, ReasonAbsent, "there is none; the next apply makes it")
	}
	if f.Meta.DeletionTimestamp != nil {
		return f.becomes(plan.ActionSkip, plan.ReasonDeleting, "it is being deleted; the next apply creates it again")
	}
	live := tracking.LiveOf(f.Ref, f.Meta)
	bonds := bondsOf(n, f.Meta, &live)
	switch {
	case live.Record:
		return f.becomes(plan.ActionSkip, plan.ReasonForeign, "it is a record of lynqctl, or the operator's own, and a node can't have it")
	case live.Orphaned:
		return f.becomes(plan.ActionSkip, plan.ReasonOrphan, "the operator left it behind (lynqctl orphans adopt takes it back)")
	case !bonds.any() && bonds.others != "":
		return f.becomes(plan.ActionSkip, plan.ReasonForeign, "it belongs to "+bonds.others)
	case !bonds.any():
		return f.becomes(plan.ActionSkip, plan.ReasonForeign, "nothing on it says that it is of this LynqNode (the next apply adopts it, or tells of a conflict)")
	case bonds.others != "":
		return f.becomes(plan.ActionBlock, plan.ReasonForeign, fmt.Sprintf("it is of %s, and belongs to %s too (settle whose it is, and run this again)", n, bonds.others))
	}
	switch c, err := changeOf(n, &f, record); {
	case err != nil:
		return f.becomes(plan.ActionBlock, plan.ReasonForeign, err.Error())
	case c == nil:
		return f.becomes(plan.ActionKeep, plan.ReasonUpToDate, "it has been taken over")
	case f.Dropped:
		return f.becomes(plan.ActionTrack, ReasonHandover, "its LynqNode wants it no more: the next apply does what its deletionPolicy says")
	}
	return f.becomes(plan.ActionTrack, ReasonHandover, "")
}

// becomes returns the object with a step.
func (f Found) becomes(a plan.Action, why plan.Reason, message string) Object {
	policy := lynq.Policy{Lifecycle: f.Lifecycle}
	policy.Unwaited = true // a handover starts nothing, so there is nothing to wait for
	return Object{f, plan.Step{
		Action: a, Reason: why, Message: message,
		Object: &plan.Object{Ref: f.Ref, APIVersion: f.APIVersion, ID: f.ID, Policy: &policy},
		Entry:  &inventory.Entry{Ref: f.Ref, ID: f.ID},
	}}
}

// bonds say to whom an object belongs.
type bonds struct {
	owned, labelled bool   // by the LynqNode
	ours            bool   // the node that the LynqNode becomes has it
	others          string // who else has it, "" for nobody
}

func (b bonds) any() bool { return b.owned || b.labelled || b.ours }

func bondsOf(n *Node, m *metav1.PartialObjectMetadata, live *tracking.Live) bonds {
	key := n.Key()
	partOf := inventory.ID(key.Namespace, inventory.Name(key.Name))
	own := func(name string) bool { return name == n.Name || name == key.Name }
	b := bonds{
		labelled: own(live.Node) && live.NodeNamespace == n.Namespace,
		ours:     live.PartOf == partOf,
	}
	for i := range m.OwnerReferences {
		r := &m.OwnerReferences[i]
		b.owned = b.owned || r.UID == n.UID
		if record, is := wellknown.OwnerNode(r.APIVersion, r.Kind, r.Name); is && record == key.Name && m.Namespace == n.Namespace {
			b.ours = true
		} else if is {
			b.others = "the inventory of node " + m.Namespace + "/" + record
		}
	}
	switch rare := live.Rare(); {
	case rare.Controller != "" && rare.ControllerUID != n.UID:
		b.others = "controller " + rare.Controller
	case live.Node != "" && !b.labelled:
		b.others = "node " + live.NodeNamespace + "/" + live.Node
	case live.PartOf != "" && !b.ours:
		b.others = "ApplySet " + live.PartOf
	}
	return b
}
