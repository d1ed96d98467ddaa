package tracking

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Live holds the part of a live object's metadata that apply decides by.
type Live struct {
	lynq.Ref
	UID             types.UID
	ResourceVersion string
	Generation      int64
	Deleting        bool // it has a deletionTimestamp
	// Ending says since when it is being deleted, and what holds it: "is being
	// deleted since …; finalizer … holds it"; "" where it is not.
	Ending string

	// Tracking, as its labels, annotations and owner references have it.
	Hub                 string
	Node, NodeNamespace string
	PartOf              string // ApplySet id
	Owners              []types.UID
	// ResourceID and DeletionPolicy are what its annotations say.
	ResourceID     string
	DeletionPolicy lynq.DeletionPolicy
	Orphaned       bool
	OrphanedFrom   string
	Data           bool // an orphan whose form said holdsData
	CreatedOnce    bool
	Unmanaged      bool // lynq.sh/mode: unmanaged
	// Record: it is a record of lynqctl, or an object of the Lynq operator's own,
	// and never one of a node.
	Record  bool
	Adopted bool // it was there before it became ours
	// Labels are all of its labels, where a tombstone is compared with them; nil else.
	Labels map[string]string

	// Controller is the owner reference with controller: true that is not a
	// record of ours, as "Kind/name", "" where there is none. Foreign names
	// another tool's inventory that claims the object, such as
	// "ApplySet applyset-x-v1" or "Kustomization flux-system/apps".
	Controller    string
	ControllerUID types.UID
	Foreign       string

	// Fields is a hash of the fields that lynq manages by server-side apply and
	// of the second in which it last changed any of them, "" where it manages
	// none.
	Fields string
	// Last: no other client has written to the object since lynq last applied it.
	// LastButStatus: none but to its status.
	Last, LastButStatus bool
	// Intact: the server was asked, and a write would change nothing of this version.
	// Asked is the whole object where a write would, so that the run need not read it.
	Intact bool
	Asked  *unstructured.Unstructured
	// Updated: lynq also manages fields by updates and patches, so that a
	// server-side apply without them would not remove them.
	Updated bool
	// Updates are those fields.
	Updates []Update
	// Takers are the other managers that changed by server-side apply what they manage
	// since lynq last wrote. A write leaves them the fields that they took, unless Force
	// says otherwise.
	Takers []string
	// ClientSide: kubectl, Helm or their kin manage fields (see kinds.ClientSide).
	ClientSide bool
}

// Labelled is the node that the labels of the object name.
func (l *Live) Labelled() lynq.NodeKey { return lynq.NodeKey{Namespace: l.NodeNamespace, Name: l.Node} }

// NoOrphan tells why an object does not count as an orphan, "" where it does:
// it has no marker of one, or another owner has it in spite of that.
func (l *Live) NoOrphan() string {
	switch {
	case !l.Orphaned:
		return "it is no longer marked as an orphan"
	case l.Unmanaged:
		return "it has " + wellknown.AnnotationMode + ": " + wellknown.ModeUnmanaged
	case l.TakenOver() != "":
		return "it is now of " + l.TakenOver()
	case l.PartOf != "" || l.Node != "" && l.Hub != "":
		return "it has the labels of a node too (lynqctl inventory verify shows of which)"
	}
	return ""
}

// TakenOver names the controller or the other tool that claims an object, ""
// for none. They may do so and leave our tracking on it.
func (l *Live) TakenOver() string {
	switch {
	case l.Record:
		return "lynqctl or the Lynq operator itself"
	case l.Controller != "":
		return "controller " + l.Controller
	}
	return l.Foreign
}
