package tracking

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Live is the part of a live object's metadata that apply's decisions depend on.
type Live struct {
	lynq.Ref
	UID             types.UID
	ResourceVersion string
	Generation      int64

	// These come from labels, annotations and owner references.
	Hub, HubNamespace   string
	Node, NodeNamespace string
	PartOf              string // the ApplySet id
	Owners              []types.UID
	// These come from annotations.
	ResourceID     string
	DeletionPolicy lynq.DeletionPolicy
	// Mark is the digest of the manifest that lynqctl wrote last, or "".
	Mark string

	// Fields is a hash of the fields that lynq manages by server-side apply, and of the
	// second of its last change. It is "" if lynq manages none.
	Fields string

	// Few has what few objects have, and is nil for the others. See Live.Rare.
	Few *Rare

	// The rest is together, because a run keeps one Live for each object.

	Deleting    bool // the object has a deletionTimestamp
	Orphaned    bool
	Data        bool // an orphan with holdsData in its form
	CreatedOnce bool
	Unmanaged   bool // lynq.sh/mode: unmanaged
	// Record is set for lynqctl's own records and the Lynq operator's own objects. A node
	// never owns them.
	Record  bool
	Adopted bool // the object existed before the node owned it
	// Last is set if no other client has written to the object since lynq last applied it.
	// LastButStatus ignores writes of the status.
	Last, LastButStatus bool
	// Intact is set if the server confirmed that a write would not change this version.
	Intact bool
	// Retired is set if the form renders the object in a version that the server doesn't
	// serve any more, so that a write would fail.
	Retired bool
	// Updated is set if lynq also manages fields by updates and patches. A server-side
	// apply without them would not remove them.
	Updated bool
	// ClientSide is set if kubectl, Helm or a similar tool manages fields (see
	// kinds.ClientSide).
	ClientSide bool
}

// Rare is the part of a Live that few objects have. A run keeps one Live for each object.
type Rare struct {
	// Ending says since when the object is being deleted, and which finalizers block that
	// (see ready.Ending). It is "" if nobody deleted the object.
	Ending       string
	OrphanedFrom string // from an annotation
	// Labels are all labels of the object, to compare with a tombstone, and nil otherwise.
	Labels map[string]string

	// Controller is the owner reference with controller: true as "Kind/name", or "".
	// lynqctl's own records don't count. Foreign names another tool's inventory that claims
	// the object, such as "ApplySet applyset-x-v1" or "Kustomization flux-system/apps".
	Controller    string
	ControllerUID types.UID
	Foreign       string

	// Updates are the fields that lynq manages by updates and patches.
	Updates []Update
	// AppliedBy are the managers that changed their fields by server-side apply since lynq
	// last wrote. A write leaves them these fields, except with Force.
	AppliedBy []string
	// Ours are the fields that lynq manages, if others wrote the object since lynq did, and
	// Others are those of their writes. Without such writes, both are nil.
	Ours, Others []*metav1.FieldsV1
	// Asked may have the whole object, so that the run needn't read it.
	Asked *unstructured.Unstructured
}

// Rare returns what few objects have. The caller doesn't change it.
func (l *Live) Rare() Rare {
	if l.Few == nil {
		return Rare{}
	}
	return *l.Few
}

// Change changes what few objects have. Copies of the Live keep theirs.
func (l *Live) Change(change func(*Rare)) {
	r := l.Rare()
	change(&r)
	l.keep(r)
}

// keep sets what few objects have. It allocates nothing if that is empty.
func (l *Live) keep(r Rare) {
	l.Few = nil
	if !r.empty() {
		few := r
		l.Few = &few
	}
}

func (r *Rare) empty() bool {
	return r.Ending == "" && r.OrphanedFrom == "" && r.Labels == nil && r.Controller == "" && r.ControllerUID == "" && r.Foreign == "" &&
		r.Updates == nil && r.AppliedBy == nil && r.Asked == nil && r.Others == nil
}

// Written reports whether lynq manages fields of the object. The server keeps that, and
// drops it from a copy: the client that creates an object manages the fields that it sets.
func (l *Live) Written() bool { return l.Fields != "" || l.Updated }

// Labelled returns the node in the object's labels.
func (l *Live) Labelled() lynq.NodeKey { return lynq.NodeKey{Namespace: l.NodeNamespace, Name: l.Node} }

// NoOrphan says why an object doesn't count as an orphan, or returns "". An object isn't an
// orphan without the marker, or if it has another owner.
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

// TakenOver returns the controller or other tool that claims an object, or "". They may
// leave our tracking in place.
func (l *Live) TakenOver() string {
	switch {
	case l.Record:
		return "lynqctl or the Lynq operator itself"
	case l.Rare().Controller != "":
		return "controller " + l.Rare().Controller
	}
	return l.Rare().Foreign
}
