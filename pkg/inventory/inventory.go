package inventory

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Inventory lists the objects that a node owns, and says how the node is. It is stored
// in one ConfigMap.
type Inventory struct {
	Node     lynq.NodeID // whose inventory it is
	Activate string      // "true", or "false" while the node goes
	// TemplateGeneration is the form's metadata.generation, 0 where it has none.
	TemplateGeneration int64
	// RolloutStart is when the node last began to change, zero where never.
	RolloutStart time.Time
	// LeavingSince is when a run first saw that the row is gone, zero for a node whose row
	// is active, or which leaves at once. LeavingUntil is when the node goes, for people.
	LeavingSince, LeavingUntil time.Time
	// Expires is when the row expires, as the last run saw it, zero for never. It is for
	// people: rows alone decide.
	Expires time.Time
	// Extra is annotation lynq.sh/extra, "" unless values are to be recorded.
	Extra string
	// DependForms are the forms that the node's form depends on, sorted: it goes before
	// the nodes of its row in those do.
	DependForms []string
	// Version is that of a lynqctl which renders what the digests of all entries
	// are of, "" where none is known.
	Version string

	// Entries are one for each object, sorted by Key.
	Entries []Entry
	// Hooks are one for each object that is made when the node goes, sorted by Key.
	Hooks  []Entry
	Status Status

	// What only the cluster knows: zero before the first save.
	UID, ResourceVersion string
	Created              time.Time
	// Copy is the uid of the copy that a restoration made, "" where there is none.
	// An inventory that has no UID then is not restored yet.
	Copy string
	// Deleting: its deletion was requested, and the finalizer holds it.
	Deleting bool
	// Finalizer: the ConfigMap has the node's finalizer, or will have it.
	Finalizer bool
	// Others is what others put on the ConfigMap, nil for nothing.
	Others *Others
}

// Holders are the finalizers of others, which hold an inventory that is being
// deleted.
func (inv *Inventory) Holders() []string {
	if inv.Others == nil {
		return nil
	}
	return inv.Others.Finalizers
}

// Held says who keeps an inventory that was deleted from going; nil where nobody does.
// Only then another one can take its place.
func (inv *Inventory) Held() error {
	if !inv.Deleting || inv.Finalizer && len(inv.Holders()) == 0 {
		return nil
	}
	who := "a finalizer"
	if holders := inv.Holders(); len(holders) > 0 {
		who = strings.Join(holders, ", ")
	}
	return fmt.Errorf("inventory %s/%s is being deleted, and %s blocks that (run again when it is deleted)", inv.Node.Namespace, Name(inv.Node.Name), who)
}

// WaysOut says what a person does about an inventory that someone deleted: how to keep
// the tenant, and only then how to delete it.
func WaysOut(k lynq.NodeKey) string {
	return fmt.Sprintf("to keep the node and its objects, run lynqctl inventory restore %[1]s -n %[2]s, or apply while its row is active. To delete the node and its objects, run lynqctl finalize --node %[1]s -n %[2]s",
		k.Name, k.Namespace)
}

// Clone is a copy whose entries and conditions can be changed.
func (inv *Inventory) Clone() *Inventory {
	c := *inv
	c.Entries, c.Hooks = slices.Clone(inv.Entries), slices.Clone(inv.Hooks)
	c.Status.Conditions = slices.Clone(inv.Status.Conditions)
	c.Status.Objects = slices.Clone(inv.Status.Objects)
	return &c
}

// Phase says how far an object has come.
type Phase string

// PhaseCompleted marks an object whose work is done (purgeOrder), and which lynqctl
// deletes. As long as its entry has a uid, that may still be to do.
const PhaseCompleted Phase = "Completed"

// Recorded are the phases that an entry may have.
func (Phase) Recorded() []string {
	return []string{string(PhaseRunning), string(PhaseFailed), string(PhaseCompleted)}
}

// Purged tells whether an object did its work and is gone, on purpose.
func (r *Entry) Purged() bool { return r.Phase == PhaseCompleted && r.UID == "" }

// Entry records one object of a node.
type Entry struct {
	lynq.Ref   `json:"-"`
	ID         string `json:"-"`                    // of the resource in its form
	APIVersion string `json:"apiVersion,omitempty"` // that it was written with
	// UID is the object's, "" where it has not been seen written yet: the
	// entry then is an intent.
	UID string `json:"uid,omitempty"`
	// Digest is that of the rendered object when it was last written whole,
	// "" where that did not succeed yet.
	Digest string `json:"digest,omitempty"`
	// Template is a digest of what the form said of the object then, whatever the
	// row, "" where that is not known.
	Template string `json:"template,omitempty"`
	// Generation and ResourceVersion are those that the last write gave.
	Generation      int64  `json:"generation,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Fields is a hash of the fields that we then managed, and when, "" where that is
	// not how drift is found.
	Fields string `json:"fields,omitempty"`
	// Defaults stands for the fields that we managed then and the form does not set.
	Defaults string `json:"defaults,omitempty"`

	// Written is when it was written last, or found to be as it is to be by a write; zero
	// where nothing depends on it (reapplyInterval).
	Written time.Time `json:"written,omitzero"`

	// Lifecycle are the policies under which it was written. The digest of a hook is that
	// of what is recorded of it in a Secret, and Phase is how far it is.
	lynq.Lifecycle

	// Order is higher than that of every object of its node that it depends on:
	// objects go from the highest down.
	Order int `json:"order,omitempty"`
	// Phase is how far an object is that is deleted when its work is done.
	Phase Phase `json:"phase,omitempty"`
	// Ready: it was seen ready since it was last written.
	Ready bool `json:"ready,omitempty"`
	// Adopted: it was there before the node had it.
	Adopted bool `json:"adopted,omitempty"`
	// Excluded: a rule excluded it when its form was last applied.
	Excluded bool `json:"excluded,omitempty"`
}

// HoldsData tells whether data is lost when the object is deleted: by its kind, or because
// its form or its manifest said so when it was written.
func (r *Entry) HoldsData() bool { return r.Data || r.Ref.HoldsData() }

// Key is Kind/Namespace/Name@id, or Kind/Name@id for cluster-scoped objects.
func (r *Entry) Key() string { return string(r.appendKey(nil)) }

func (r *Entry) appendKey(b []byte) []byte {
	b = append(append(b, r.Kind...), '/')
	if r.Namespace != "" {
		b = append(append(b, r.Namespace...), '/')
	}
	return append(append(append(b, r.Name...), '@'), r.ID...)
}

// SameNode tells whether two inventories are of one node: of one hub, form and
// row, whatever they are called. What those of old formats do not say they do not
// say otherwise.
func SameNode(a, b *Inventory) bool {
	same := func(x, y string) bool { return x == "" || y == "" || x == y }
	return a.Node.Hub.Name == b.Node.Hub.Name && same(a.Node.Hub.Namespace, b.Node.Hub.Namespace) &&
		a.Node.Form.Name == b.Node.Form.Name && same(a.Node.Form.Namespace, b.Node.Form.Namespace) && a.Node.UID == b.Node.UID
}

// Saved is the inventory with what the server says of it: its ConfigMap was written.
func (inv *Inventory) Saved(cm *corev1.ConfigMap) *Inventory {
	next := *inv
	next.Entries, next.Hooks = sorted(inv.Entries), sorted(inv.Hooks)
	next.UID, next.ResourceVersion = string(cm.UID), cm.ResourceVersion
	next.Created, next.Deleting = cm.CreationTimestamp.Time, cm.DeletionTimestamp != nil
	next.Others = othersOf(cm, nodeKeys())
	return &next
}
