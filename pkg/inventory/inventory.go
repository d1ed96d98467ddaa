package inventory

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Inventory is what a node owns, and how it is: one ConfigMap.
type Inventory struct {
	Node, Namespace string
	Hub, Form       string
	// HubNamespace and FormNamespace tell hubs, and forms, of one name apart.
	// Inventories of old formats may lack them.
	HubNamespace, FormNamespace string
	// Format is that of the ConfigMap it was read from, 0 for the one that this
	// version writes.
	Format   int
	RowUID   string // raw uid of the row
	Activate string // "true", or "false" while the node goes
	// TemplateGeneration is the form's metadata.generation, 0 where it has none.
	TemplateGeneration int64
	// RolloutStart is when the node last began to change, zero where never.
	RolloutStart time.Time
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

// HubKey is the hub of the node; without a namespace where that is not recorded.
func (inv *Inventory) HubKey() lynq.HubKey {
	return lynq.HubKey{Namespace: inv.HubNamespace, Name: inv.Hub}
}

// FormKey is the form of the node; without a namespace where that is not
// recorded.
func (inv *Inventory) FormKey() lynq.FormKey {
	return lynq.FormKey{Namespace: inv.FormNamespace, Name: inv.Form}
}

// Holders are the finalizers of others, which hold an inventory that is being
// deleted.
func (inv *Inventory) Holders() []string {
	if inv.Others == nil {
		return nil
	}
	return inv.Others.Finalizers
}

// Clone is a copy whose entries and conditions can be changed.
func (inv *Inventory) Clone() *Inventory {
	c := *inv
	c.Entries, c.Hooks = slices.Clone(inv.Entries), slices.Clone(inv.Hooks)
	c.Status.Conditions = slices.Clone(inv.Status.Conditions)
	c.Status.Objects = slices.Clone(inv.Status.Objects)
	return &c
}

// Phase is how far an object is.
type Phase string

// PhaseCompleted is that of an object whose work is done (purgeOrder), and which is
// deleted. As long as its uid is recorded, that may yet have to be done.
const PhaseCompleted Phase = "Completed"

// Purged tells whether an object did its work and is gone, on purpose.
func (r *Entry) Purged() bool { return r.Phase == PhaseCompleted && r.UID == "" }

// Entry is what an inventory says of one object.
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

	Creation lynq.CreationPolicy `json:"creation,omitempty"`
	Deletion lynq.DeletionPolicy `json:"deletion,omitempty"`
	Conflict lynq.ConflictPolicy `json:"conflict,omitempty"`
	Patch    lynq.PatchStrategy  `json:"patch,omitempty"`

	// Order is higher than that of every object of its node that it depends on:
	// objects go from the highest down.
	Order int `json:"order,omitempty"`
	// DeleteOrder is the wave in which it goes: from the lowest up, each when those
	// before are gone, and within one by Order.
	DeleteOrder int `json:"deleteOrder,omitempty"`
	// Phase is how far an object is that is deleted when its work is done.
	Phase Phase `json:"phase,omitempty"`
	// Ready: it was seen ready since it was last written.
	Ready bool `json:"ready,omitempty"`
	// Unwaited: its form does not wait for it (waitForReady: false), so that the node is
	// Ready whether or not it is.
	Unwaited bool `json:"unwaited,omitempty"`
	// Adopted: it was there before the node had it.
	Adopted bool `json:"adopted,omitempty"`
	// Excluded: a rule excluded it when its form was last applied.
	Excluded bool `json:"excluded,omitempty"`
	// Data: more than the object is lost with it, whatever its kind; see HoldsData.
	Data bool `json:"holdsData,omitempty"`

	// RunOn is Delete for a hook, "" else. The digest of a hook is that of what is
	// recorded of it in a Secret, and Phase is how far it is.
	RunOn lynq.RunOn `json:"runOn,omitempty"`
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
	return a.Hub == b.Hub && same(a.HubNamespace, b.HubNamespace) &&
		a.Form == b.Form && same(a.FormNamespace, b.FormNamespace) && a.RowUID == b.RowUID
}

// Saved is the inventory with what the server says of it: its ConfigMap was written.
func (inv *Inventory) Saved(cm *corev1.ConfigMap) *Inventory {
	next := *inv
	next.Entries, next.Hooks, next.Format = sorted(inv.Entries), sorted(inv.Hooks), 0
	next.UID, next.ResourceVersion = string(cm.UID), cm.ResourceVersion
	next.Created, next.Deleting = cm.CreationTimestamp.Time, cm.DeletionTimestamp != nil
	next.Others = othersOf(cm, nodeKeys())
	return &next
}
