package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// VerifyInput is what records are compared with.
type VerifyInput struct {
	// Inventories are those to be compared.
	Inventories []*inventory.Inventory
	// Others are further inventories: what they name is recorded.
	Others []*inventory.Inventory
	// Broken names the nodes whose records could not be read: it is not known
	// what those name.
	Broken map[NodeKey]bool
	// Live has every object that Inventories name, as far as there is one.
	Live map[lynq.Ref]*Live
	// Misplaced are those that cannot be there.
	Misplaced map[lynq.Ref]*ScopeError
	// Tracked are objects that bear the label of a hub, of whatever kinds, and
	// are no records. Among them are those that Verify finds unrecorded.
	Tracked []*Live
}

// FindingType is a way in which the cluster is not as records say. Types are
// words that scripts may compare.
type FindingType string

// The types of findings.
const (
	FindingMissing     FindingType = "Missing"     // recorded, and gone
	FindingReplaced    FindingType = "Replaced"    // it was deleted and created again
	FindingForeign     FindingType = "Foreign"     // another node, controller or tool has it
	FindingOrphaned    FindingType = "Orphaned"    // marked as an orphan, though recorded
	FindingLeaving     FindingType = "Leaving"     // it is being deleted
	FindingUnconfirmed FindingType = "Unconfirmed" // no run saw its last write end well
	FindingUntracked   FindingType = "Untracked"   // its tracking is missing, or not as its policies say
	FindingDrifted     FindingType = "Drifted"     // others changed what lynqctl manages
	FindingConflict    FindingType = "Conflict"    // another client applied fields since they were ours, which apply leaves to it
	FindingUnrecorded  FindingType = "Unrecorded"  // tracked, and no inventory has an entry for it
)

// FindingTypes are all of them.
func FindingTypes() []FindingType {
	return []FindingType{
		FindingMissing, FindingReplaced, FindingForeign, FindingOrphaned, FindingLeaving,
		FindingUnconfirmed, FindingUntracked, FindingDrifted, FindingConflict, FindingUnrecorded,
	}
}

// Finding is one object that is not as records say.
type Finding struct {
	NodeKey
	Hub  string
	Form string // "" where no record says it
	// Object may be the record itself.
	Object lynq.Ref
	ID     string // of the resource in its form, "" for the record itself
	Type   FindingType
	// What is wrong and what to do about it, for people.
	What, Fix string
}

// Verify compares records with the cluster: it finds what an apply would put
// right that wanted exactly what is recorded, and what no record names. There is
// one finding for an object at most, sorted by node and object. Of a node whose
// record is being deleted only that is told. What a person marked as unmanaged
// is as it is on purpose.
//
// It is a pure function.
func Verify(in *VerifyInput) []Finding {
	v := newVerifier(in)
	var found []Finding
	for _, inv := range in.Inventories {
		found = append(found, v.node(inv)...)
	}
	for _, l := range in.Tracked {
		if f, ok := v.unrecorded(l); ok {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(
			strings.Compare(a.String(), b.String()),
			strings.Compare(a.Object.Full(), b.Object.Full()),
			strings.Compare(a.ID, b.ID),
		)
	})
	return found
}

// verifier is an input with its indexes.
type verifier struct {
	*VerifyInput
	decider  *decider // of a run without forms, in which no node gives anything away
	nodes    map[NodeKey]*inventory.Inventory
	byUID    map[types.UID]*inventory.Inventory
	recorded map[lynq.Ref]bool
	uids     map[types.UID]bool // of recorded objects
	broken   map[string]bool    // records that could not be read, by ApplySet id
}

func newVerifier(in *VerifyInput) *verifier {
	v := &verifier{
		VerifyInput: in,
		decider:     newDecider(&Input{Inventories: slices.Concat(in.Inventories, in.Others)}),
		nodes:       map[NodeKey]*inventory.Inventory{},
		byUID:       map[types.UID]*inventory.Inventory{},
		recorded:    map[lynq.Ref]bool{},
		uids:        map[types.UID]bool{},
		broken:      map[string]bool{},
	}
	for k := range in.Broken {
		v.broken[partOf(k)] = true
	}
	for _, inv := range v.decider.Inventories {
		k := NodeKey{inv.Namespace, inv.Node}
		v.nodes[k], v.byUID[types.UID(inv.UID)] = inv, inv
		for _, r := range inv.All() {
			v.recorded[r.Ref] = true
			if r.UID != "" {
				v.uids[types.UID(r.UID)] = true
			}
		}
	}
	return v
}

// partOf is the id of a node's ApplySet.
func partOf(k NodeKey) string { return inventory.ID(k.Namespace, inventory.Name(k.Name)) }

// node compares one inventory.
func (v *verifier) node(inv *inventory.Inventory) []Finding {
	f := Finding{NodeKey: NodeKey{inv.Namespace, inv.Node}, Hub: inv.Hub, Form: inv.Form}
	if inv.Deleting {
		f.Object = lynq.Ref{Kind: "ConfigMap", Namespace: inv.Namespace, Name: inventory.Name(inv.Node)}
		f.Type, f.What, f.Fix = FindingLeaving, "someone deleted the node's inventory", WaysOut(f.NodeKey)
		if err := held(inv); err != nil {
			f.What += ", and another client's finalizer holds it"
		}
		if !inv.Finalizer {
			f.Fix = "lynqctl's finalizer is gone, so the garbage collector deletes the objects that belong to the inventory when it goes"
		}
		return []Finding{f}
	}
	var found []Finding
	me := NewOwner(f.NodeKey, inv.Hub, inv)
	for i := range inv.Entries {
		r := &inv.Entries[i]
		f.Object, f.ID = r.Ref, r.ID
		if v.object(&f, me, r, v.Live[r.Ref]) {
			found = append(found, f)
		}
	}
	return found
}

// WaysOut says what a person does about an inventory that someone deleted: how to keep
// the tenant, and only then how to delete it.
func WaysOut(k NodeKey) string {
	return fmt.Sprintf("to keep the node and its objects, run lynqctl inventory restore %[1]s -n %[2]s, or apply while its row is active. To delete the node and its objects, run lynqctl finalize --node %[1]s -n %[2]s",
		k.Name, k.Namespace)
}

// object compares one record with what there is, and tells whether that is a
// finding.
func (v *verifier) object(f *Finding, me Owner, r *inventory.Entry, l *Live) bool {
	o := asRecorded(me, r)
	switch f.Type = v.typeOf(me, o, r, l); f.Type {
	case "":
		return false
	case FindingMissing:
		f.What, f.Fix = "it is gone", "apply creates it again"
		if err := v.Misplaced[r.Ref]; err != nil {
			f.What, f.Fix = err.impossible(), "apply drops its entry"
		}
	case FindingReplaced:
		f.What, f.Fix = "it was deleted and created again", "apply updates it"
	case FindingForeign:
		f.What, f.Fix = "it belongs to "+v.decider.foreign(me, l), "apply leaves it alone (conflictPolicy Stuck; Force would take it)"
		switch {
		case l.Record:
			f.Fix = "apply never writes or deletes it"
		case r.Conflict == lynq.ConflictForce:
			f.Fix = "apply takes it back (conflictPolicy Force)"
		}
	case FindingOrphaned:
		f.What, f.Fix = "it is marked as an orphan", "apply takes it back"
	case FindingLeaving:
		f.What, f.Fix = "it "+l.Ending, "apply creates it again when it is gone"
	case FindingUnconfirmed:
		f.What, f.Fix = "a run was to write it and did not see that end well", "apply completes that"
		if r.Phase == inventory.PhaseCompleted {
			f.What = "a run was to delete it, for its work is done, and did not see that end well"
		}
		if err := v.Misplaced[r.Ref]; err != nil {
			f.What, f.Fix = err.impossible(), "apply drops its entry"
		}
	case FindingUntracked:
		f.What, f.Fix = me.untracked(o, l), "apply puts that right"
	case FindingDrifted:
		f.What, f.Fix = "fields that lynqctl manages were changed", "apply puts that right"
	case FindingConflict:
		f.What = "fields that lynqctl manages were changed, and " + quotedList(l.Takers) + " applied fields since"
		f.Fix = "apply takes back no field that another client applied: remove the field there or from the form, or set conflictPolicy: Force"
	}
	return true
}

// typeOf asks what a run would do that wants just what is recorded.
func (v *verifier) typeOf(me Owner, o *Object, r *inventory.Entry, l *Live) FindingType {
	if r.Excluded {
		return ""
	}
	s := v.decider.step(me, o, r, l)
	reason := s.Reason
	switch reason {
	case ReasonCompleted:
		if s.Action != ActionPurge {
			return ""
		}
		return FindingUnconfirmed
	case ReasonUpToDate, ReasonCreatedOnce, ReasonUnmanaged:
		return ""
	case ReasonVanished:
		return FindingMissing
	case ReasonNew:
		return FindingUnconfirmed
	case ReasonDeleting:
		return FindingLeaving
	case ReasonForeign, ReasonTakeover:
		return FindingForeign
	case ReasonOrphan:
		return FindingOrphaned
	}
	switch {
	case r.UID != "" && r.UID != string(l.UID):
		return FindingReplaced
	case reason == ReasonUntracked:
		return FindingUntracked
	case reason == ReasonDrifted:
		return typeOfDrift(o, r, l)
	}
	return FindingUnconfirmed
}

// typeOfDrift tells drift from a conflict. A run would look at an object of which it is
// not known whether it drifted: that is no finding.
func typeOfDrift(o *Object, r *inventory.Entry, l *Live) FindingType {
	switch {
	case driftOf(o, r, l) != driftCertain:
		return ""
	case r.Conflict != lynq.ConflictForce && len(l.Takers) > 0:
		return FindingConflict
	}
	return FindingDrifted
}

// asRecorded is what a run wants that wants just what is recorded.
func asRecorded(me Owner, r *inventory.Entry) *Object {
	p := lynq.Policy{Creation: r.Creation, Deletion: r.Deletion, Conflict: r.Conflict, Patch: r.Patch}
	if r.Phase == inventory.PhaseCompleted {
		p.PurgeOrder = new(int)
	}
	return &Object{
		Ref: r.Ref, APIVersion: r.APIVersion, ID: r.ID, Order: r.Order, Digest: r.Digest,
		Owned:  !r.Deletion.Keeps(true) && r.Namespace == me.Namespace,
		Policy: &p,
	}
}

// untracked says what is wrong with an object's tracking.
func (me Owner) untracked(o *Object, l *Live) string {
	owned := me.Owns(l)
	labelled := l.Node != "" && l.NodeNamespace != ""
	if o.Owned {
		labelled = l.Node != "" || l.NodeNamespace != ""
	}
	var lacks, has []string
	note := func(wanted, there bool, what string) {
		switch {
		case wanted && !there:
			lacks = append(lacks, what)
		case there && !wanted:
			has = append(has, what)
		}
	}
	note(true, l.Hub == me.hub, "label "+lynq.LabelHub)
	note(true, l.PartOf == me.PartOf, "label "+lynq.LabelPartOf)
	note(o.Owned, owned, "the owner reference")
	note(!o.Owned, labelled, "its node's labels")
	note(true, o.Policy.Creation != lynq.CreateOnce || o.annotated(l), "annotations that lynqctl writes")
	what := ""
	if len(lacks) > 0 {
		what = "it lacks " + strings.Join(lacks, ", ")
	}
	if len(has) > 0 {
		what = strings.TrimPrefix(what+"; it has ", "; ") + strings.Join(has, ", ") + ", which its policies do not want"
	}
	return what
}

// unrecorded tells whether an object that has tracking is named by no record,
// though its node has one, or lynqctl applied it and its node's record is lost.
// Controllers copy labels to what they make: those copies lack the resource's id,
// or belong to their controller.
func (v *verifier) unrecorded(l *Live) (Finding, bool) {
	f := Finding{Hub: l.Hub, Object: l.Ref, ID: l.ResourceID, Type: FindingUnrecorded}
	if v.recorded[l.Ref] || v.uids[l.UID] || l.Orphaned || l.Deleting || l.ResourceID == "" || l.takenOver() != "" {
		return f, false
	}
	f.Fix = "apply records it if a form has it, inventory rebuild in any case"
	if inv := v.nodeOf(l); inv != nil {
		f.NodeKey, f.Hub, f.Form = NodeKey{inv.Namespace, inv.Node}, inv.Hub, inv.Form
		f.What = "no inventory has an entry for it"
		return f, true
	}
	f.What = "its node has no inventory"
	if l.Node != "" {
		f.NodeKey = NodeKey{l.NodeNamespace, l.Node}
		return f, l.PartOf == partOf(f.NodeKey) && !v.broken[l.PartOf]
	}
	// A record that is gone owned it, in the same namespace. Its name is not
	// known; other tools that put labels such as these write under other names.
	f.Namespace = l.Namespace
	return f, l.PartOf != "" && (l.Fields != "" || l.Updated) && !v.broken[l.PartOf]
}

// nodeOf is the node whose tracking an object has, nil where none that is
// known does.
func (v *verifier) nodeOf(l *Live) *inventory.Inventory {
	for _, uid := range l.Owners {
		if inv := v.byUID[uid]; inv != nil {
			return inv
		}
	}
	if k, known := v.decider.applySets[l.PartOf]; known {
		return v.nodes[k]
	}
	if inv := v.nodes[NodeKey{l.NodeNamespace, l.Node}]; inv != nil && inv.Hub == l.Hub {
		return inv
	}
	return nil
}

// quotedList is some names: "argocd" and "helm".
func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	slices.Sort(quoted)
	return strings.Join(slices.Compact(quoted), " and ")
}
