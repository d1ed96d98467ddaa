package inventory

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Inventory lists the objects that a node owns, with the node's status. One ConfigMap
// stores it.
type Inventory struct {
	Node     lynq.NodeID // the inventory's node
	Activate string      // "true", or "false" while lynqctl deletes the node
	// TemplateGeneration is the form's metadata.generation, or 0.
	TemplateGeneration int64
	// RolloutStart is when the node last started to change, or zero.
	RolloutStart time.Time
	// LeavingSince is when a run first found the row gone. It is zero if the row is
	// active, or if there is no grace period. LeavingUntil tells people when lynqctl
	// deletes the node.
	LeavingSince, LeavingUntil time.Time
	// Expires is when the row expires, as of the last run, or zero for never. It is for
	// people. lynqctl decides from the row alone.
	Expires time.Time
	// Extra is annotation lynq.sh/extra. It is "" unless the user records values.
	Extra string
	// DependForms are the forms that the node's form depends on, sorted. lynqctl deletes
	// this node before the nodes of its row in those forms.
	DependForms []string
	// Version is the version of a lynqctl that renders what the digests of all entries
	// show. It is "" if unknown.
	Version string

	// Entries has one entry for each object, sorted by Key.
	Entries []Entry
	// Hooks has one entry for each object that lynqctl creates when it deletes the node,
	// sorted by Key.
	Hooks  []Entry
	Status Status

	// These fields come from the cluster. They are zero before the first save.
	UID, ResourceVersion string
	Created              time.Time
	// Copy is the uid of the copy for a restoration, or "". An inventory with a copy but
	// without a UID isn't restored yet.
	Copy string
	// Deleting is set if somebody deleted the inventory and the finalizer blocks that.
	Deleting bool
	// Finalizer is set if the ConfigMap has the node's finalizer, or will get it.
	Finalizer bool
	// Others has fields of other clients, or is nil.
	Others *Others
}

// Holders returns the finalizers of other tools that block the deletion of an inventory.
func (inv *Inventory) Holders() []string {
	if inv.Others == nil {
		return nil
	}
	return inv.Others.Finalizers
}

// Held says which finalizers block a deleted inventory, or returns nil. lynqctl can create
// a new inventory only after the old one is gone.
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

// WaysOut says what a user can do about a deleted inventory. It first says how to keep the
// tenant, and then how to delete it.
func WaysOut(k lynq.NodeKey) string {
	return fmt.Sprintf("to keep the node and its objects, run lynqctl inventory restore %[1]s -n %[2]s, or apply while its row is active. To delete the node and its objects, run lynqctl finalize --node %[1]s -n %[2]s",
		k.Name, k.Namespace)
}

// Clone returns a copy. Callers may change its entries and conditions.
func (inv *Inventory) Clone() *Inventory {
	c := *inv
	c.Entries, c.Hooks = slices.Clone(inv.Entries), slices.Clone(inv.Hooks)
	c.Status.Conditions = slices.Clone(inv.Status.Conditions)
	c.Status.Objects = slices.Clone(inv.Status.Objects)
	return &c
}

// On returns the inventory as the next version of what another client wrote.
func (inv *Inventory) On(there *Inventory) *Inventory {
	c := inv.Clone()
	c.ResourceVersion, c.Others = there.ResourceVersion, there.Others
	return c
}

// Phase is the progress of an object.
type Phase string

// PhaseCompleted marks an object that lynqctl deletes because its work is done
// (purgeOrder). If its entry has a uid, the deletion may still be pending.
const PhaseCompleted Phase = "Completed"

// Recorded returns the phases that an entry may have.
func (Phase) Recorded() []string {
	return []string{string(PhaseRunning), string(PhaseFailed), string(PhaseCompleted)}
}

// Purged reports whether an object did its work and lynqctl deleted it.
func (r *Entry) Purged() bool { return r.Phase == PhaseCompleted && r.UID == "" }

// Entry records one object of a node.
type Entry struct {
	lynq.Ref   `json:"-"`
	ID         string `json:"-"`                    // id of the resource in its form
	APIVersion string `json:"apiVersion,omitempty"` // version at the last write
	// UID is the object's uid. It is "" if lynqctl hasn't seen the object written yet, so
	// the entry is only an intent.
	UID string `json:"uid,omitempty"`
	// Digest is that of the rendered object at the last complete write. It is "" if none
	// has succeeded.
	Digest string `json:"digest,omitempty"`
	// Template is a digest of the form's template at that write, without values of the
	// row. It is "" if unknown.
	Template string `json:"template,omitempty"`
	// Generation and ResourceVersion come from the last write. If Ready is set, a run saw this
	// generation ready.
	Generation      int64  `json:"generation,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Fields is a hash of the fields that lynqctl managed then, with their time. It is ""
	// if lynqctl finds drift in another way.
	Fields string `json:"fields,omitempty"`
	// Defaults identifies the fields that lynqctl managed then and the form doesn't set.
	Defaults string `json:"defaults,omitempty"`

	// Written is when lynqctl last wrote the object, or when a write changed nothing. It
	// is zero if the object has no reapplyInterval.
	Written time.Time `json:"written,omitzero"`

	// Lifecycle has the policies of the last write. For a hook, Digest is that of its
	// manifest in a Secret, and Phase is its progress.
	lynq.Lifecycle

	// Order is higher than that of each dependency in the node. lynqctl deletes the
	// highest first.
	Order int `json:"order,omitempty"`
	// Phase is the progress of an object that lynqctl deletes after its work.
	Phase Phase `json:"phase,omitempty"`
	// Ready is set if a run saw the object ready since the last write.
	Ready bool `json:"ready,omitempty"`
	// Ended is set if a run saw the object's work complete since the last write. Its kind
	// must be one that ends by itself.
	Ended bool `json:"ended,omitempty"`
	// Adopted is set if the object existed before the node owned it.
	Adopted bool `json:"adopted,omitempty"`
	// Sensitive is set if the object had a value of a secret column at the last write, so
	// that no message may quote it.
	Sensitive bool `json:"sensitive,omitempty"`
	// Excluded is set if a rule excluded the object in the last apply of its form.
	Excluded bool `json:"excluded,omitempty"`
}

// SawReady reports whether a run saw ready what lynqctl wrote last to the object with this
// uid and generation. altered is set if another client changed it later, as an autoscaler
// does: the generation is that client's then. Otherwise another generation is of a run that
// was killed before it recorded its write.
func (r *Entry) SawReady(uid string, generation int64, altered bool) bool {
	return r.Ready && uid != "" && r.UID == uid && (altered || generation > 0 && r.Generation == generation)
}

// HoldsData reports whether deleting the object loses data. Its kind shows this, or its
// form or manifest did at the last write.
func (r *Entry) HoldsData() bool { return r.Data || r.Ref.HoldsData() }

// Key returns Kind/Namespace/Name@id, or Kind/Name@id for a cluster-scoped object.
func (r *Entry) Key() string { return string(r.appendKey(nil)) }

func (r *Entry) appendKey(b []byte) []byte {
	b = append(append(b, r.Kind...), '/')
	if r.Namespace != "" {
		b = append(append(b, r.Namespace...), '/')
	}
	return append(append(append(b, r.Name...), '@'), r.ID...)
}

// SameNode reports whether two inventories have the same hub, form and row, even if their
// names differ. A part that an old format lacks counts as equal.
func SameNode(a, b *Inventory) bool {
	same := func(x, y string) bool { return x == "" || y == "" || x == y }
	return a.Node.Hub.Name == b.Node.Hub.Name && same(a.Node.Hub.Namespace, b.Node.Hub.Namespace) &&
		a.Node.Form.Name == b.Node.Form.Name && same(a.Node.Form.Namespace, b.Node.Form.Namespace) && a.Node.UID == b.Node.UID
}

// Saved returns the inventory with the server's fields after its ConfigMap was written.
func (inv *Inventory) Saved(cm *corev1.ConfigMap) *Inventory {
	next := *inv
	next.Entries, next.Hooks = sorted(inv.Entries), sorted(inv.Hooks)
	next.UID, next.ResourceVersion = string(cm.UID), cm.ResourceVersion
	next.Created, next.Deleting = cm.CreationTimestamp.Time, cm.DeletionTimestamp != nil
	next.Others = othersOf(cm, nodeKeys())
	return &next
}
