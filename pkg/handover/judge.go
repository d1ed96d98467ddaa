package handover

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Found is an object that a LynqNode wants or wanted, as it was found.
type Found struct {
	lynq.Ref
	Served     lynq.APIResource
	APIVersion string // that the operator writes it with
	ID         string
	lynq.Lifecycle
	Order int
	// Dropped: its LynqNode wants it no more, and the operator had not got to
	// that yet.
	Dropped bool
	// Meta is nil where there is no such object, or where Err says why none is
	// knows.
	Meta *metav1.PartialObjectMetadata
	Err  error
}

// owned tells whether the object is to belong to the node's inventory by an owner
// reference. All others have labels.
func (f *Found) owned(n *Node) bool {
	return f.Namespace == n.Namespace && !f.Deletion.Kept().WhenNodeGoes
}

// Verdict says how a handover treats an object.
type Verdict uint8

// The verdicts.
const (
	// Take: it is the LynqNode's, and is taken over.
	Take Verdict = iota
	// Had: it is as a takeover leaves it.
	Had
	// Left: it is none of the LynqNode's, or is not there; it is left alone.
	Left
	// Failed: it cannot be taken over, and its LynqNode stays.
	Failed
)

// Object is an object of a LynqNode, and what becomes of it.
type Object struct {
	Found
	Verdict Verdict
	Why     string // for people
}

// judge says what becomes of an object. It is a pure function. Record is the uid of
// the node's inventory, "" where there is none yet.
func judge(n *Node, f Found, record types.UID) Object {
	o := Object{Found: f, Verdict: Left}
	switch {
	case f.Err != nil:
		o.Verdict, o.Why = Failed, f.Err.Error()
		return o
	case f.Meta == nil:
		o.Why = "there is none; the next apply makes it"
		return o
	case f.Meta.DeletionTimestamp != nil:
		o.Why = "it is being deleted; the next apply creates it again"
		return o
	}
	live := tracking.LiveOf(f.Ref, f.Meta)
	bonds := bondsOf(n, f.Meta, &live)
	switch {
	case live.Record:
		o.Why = "it is a record of lynqctl, or the operator's own, and a node can't have it"
	case live.Orphaned:
		o.Why = "the operator left it behind (lynqctl orphans adopt takes it back)"
	case !bonds.any() && bonds.others != "":
		o.Why = "it belongs to " + bonds.others
	case !bonds.any():
		o.Why = "nothing on it says that it is of this LynqNode (the next apply adopts it, or tells of a conflict)"
	case bonds.others != "":
		o.Verdict, o.Why = Failed, fmt.Sprintf("it is of %s, and belongs to %s too (settle whose it is, and run this again)", n, bonds.others)
	default:
		o.decide(n, record)
	}
	return o
}

// decide tells whether there is anything to change.
func (o *Object) decide(n *Node, record types.UID) {
	c, err := changeOf(n, &o.Found, record)
	switch {
	case err != nil:
		o.Verdict, o.Why = Failed, err.Error()
	case c == nil:
		o.Verdict, o.Why = Had, "it has been taken over"
	default:
		o.Verdict = Take
		if o.Dropped {
			o.Why = "its LynqNode wants it no more: the next apply does what its deletionPolicy says"
		}
	}
}

// bonds say whose an object is.
type bonds struct {
	owned, labelled bool   // the LynqNode's
	ours            bool   // that of the node which the LynqNode becomes
	others          string // who else claims it
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
