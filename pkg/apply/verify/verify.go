// Package verify compares records with the cluster: it finds what an apply would put right
// that wanted exactly what is recorded. It does no IO.
package verify

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Input holds what Run compares records with.
type Input struct {
	// Inventories are those to be compared.
	Inventories []*inventory.Inventory
	// Others are further inventories: what they name is recorded.
	Others []*inventory.Inventory
	// Broken names the nodes whose records could not be read: it is not known
	// what those name.
	Broken map[lynq.NodeKey]bool
	// Live has every object that Inventories name, as far as there is one.
	Live map[lynq.Ref]*tracking.Live
	// Misplaced are those that cannot be there.
	Misplaced map[lynq.Ref]*plan.ScopeError
	// Tracked are objects that bear the label of a hub, of whatever kinds, and
	// are no records. Among them are those that Find finds unrecorded.
	Tracked []*tracking.Live
}

// Type is a way in which the cluster is not as records say. Types are
// words that scripts may compare.
type Type string

// The types of findings.
const (
	Missing     Type = "Missing"     // recorded, and gone
	Replaced    Type = "Replaced"    // it was deleted and created again
	Foreign     Type = "Foreign"     // another node, controller or tool has it
	Orphaned    Type = "Orphaned"    // marked as an orphan, though recorded
	Leaving     Type = "Leaving"     // it is being deleted
	Unconfirmed Type = "Unconfirmed" // no run saw its last write end well
	Untracked   Type = "Untracked"   // its tracking is missing, or not as its policies say
	Drifted     Type = "Drifted"     // others changed what lynqctl manages
	Conflict    Type = "Conflict"    // another client applied fields since they were ours, which apply leaves to it
	Unrecorded  Type = "Unrecorded"  // tracked, and no inventory has an entry for it
)

// Types are all of them.
func Types() []Type {
	return []Type{
		Missing, Replaced, Foreign, Orphaned, Leaving,
		Unconfirmed, Untracked, Drifted, Conflict, Unrecorded,
	}
}

// Finding is one object that is not as records say.
type Finding struct {
	// NodeID is what the inventory records. Without an inventory it has only what the
	// object's labels say: node and hub, without the namespace of the hub.
	lynq.NodeID
	// Object may be the record itself.
	Object lynq.Ref
	ID     string // of the resource in its form, "" for the record itself
	Type   Type
	// What is wrong and what to do about it, for people.
	What, Fix string
}

// Find compares records with the cluster: it finds what an apply would put
// right that wanted exactly what is recorded, and what no record names. There is
// one finding for an object at most, sorted by node and object. Of a node whose
// record is being deleted only that is told. What a person marked as unmanaged
// is as it is on purpose.
//
// It is a pure function.
func Find(in *Input) []Finding {
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
	in       *Input
	records  *decide.Records
	nodes    map[lynq.NodeKey]*inventory.Inventory
	byUID    map[types.UID]*inventory.Inventory
	recorded map[lynq.Ref]bool
	uids     map[types.UID]bool // of recorded objects
	broken   map[string]bool    // records that could not be read, by ApplySet id
}

func newVerifier(in *Input) *verifier {
	inventories := slices.Concat(in.Inventories, in.Others)
	v := &verifier{
		in:       in,
		records:  decide.NewRecords(inventories),
		nodes:    map[lynq.NodeKey]*inventory.Inventory{},
		byUID:    map[types.UID]*inventory.Inventory{},
		recorded: map[lynq.Ref]bool{},
		uids:     map[types.UID]bool{},
		broken:   map[string]bool{},
	}
	for k := range in.Broken {
		v.broken[partOf(k)] = true
	}
	for _, inv := range inventories {
		k := inv.Node.Key()
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
func partOf(k lynq.NodeKey) string { return inventory.ID(k.Namespace, inventory.Name(k.Name)) }

// node compares one inventory.
func (v *verifier) node(inv *inventory.Inventory) []Finding {
	f := Finding{NodeID: inv.Node}
	if inv.Deleting {
		f.Object = lynq.Ref{Kind: "ConfigMap", Namespace: inv.Node.Namespace, Name: inventory.Name(inv.Node.Name)}
		f.Type, f.What, f.Fix = Leaving, "someone deleted the node's inventory", inventory.WaysOut(f.Key())
		if err := inv.Held(); err != nil {
			f.What += ", and another client's finalizer holds it"
		}
		if !inv.Finalizer {
			f.Fix = "lynqctl's finalizer is gone, so the garbage collector deletes the objects that belong to the inventory when it goes"
		}
		return []Finding{f}
	}
	var found []Finding
	me := plan.NewOwner(f.Key(), inv.Node.Hub, inv)
	for i := range inv.Entries {
		r := &inv.Entries[i]
		f.Object, f.ID = r.Ref, r.ID
		if v.object(&f, me, r, v.in.Live[r.Ref]) {
			found = append(found, f)
		}
	}
	return found
}

// object compares one record with what there is, and tells whether that is a
// finding.
func (v *verifier) object(f *Finding, me plan.Owner, r *inventory.Entry, l *tracking.Live) bool {
	s := v.records.Step(me, r, l)
	switch f.Type = typeOf(&s); f.Type {
	case "":
		return false
	case Missing:
		f.What, f.Fix = "it is missing", "apply creates it again"
		if err := v.in.Misplaced[r.Ref]; err != nil {
			f.What, f.Fix = err.Impossible(), "apply drops its entry"
		}
	case Replaced:
		f.What, f.Fix = "it was deleted and created again", "apply updates it"
	case Foreign:
		f.What, f.Fix = "it belongs to "+v.records.Holder(me, l), "apply doesn't change it; to take it over, set conflictPolicy: Force"
		switch {
		case l.Record:
			f.Fix = "apply never writes or deletes it"
		case r.Conflict == lynq.ConflictForce:
			f.Fix = "apply takes it over again (conflictPolicy: Force)"
		}
	case Orphaned:
		f.What, f.Fix = "it is marked as an orphan", "apply takes it back"
	case Leaving:
		f.What, f.Fix = "it "+l.Ending, "apply creates it again when it is deleted"
	case Unconfirmed:
		f.What, f.Fix = "the last run couldn't confirm that it wrote the object", "run apply again"
		if r.Phase == inventory.PhaseCompleted {
			f.What = "its work is done, and the last run couldn't confirm that it deleted the object"
		}
		if err := v.in.Misplaced[r.Ref]; err != nil {
			f.What, f.Fix = err.Impossible(), "apply drops its entry"
		}
	case Untracked:
		f.What, f.Fix = untracked(me, s.Object, l), "apply fixes it"
	case Drifted:
		f.What, f.Fix = "another client changed fields that lynqctl manages", "apply restores them"
	case Conflict:
		f.What = "another client changed fields that lynqctl manages, and " + quotedList(l.Takers) + " applied fields since"
		f.Fix = "apply doesn't take over fields that another client applied: remove the field there or from the form, or set conflictPolicy: Force"
	}
	return true
}

// typeOf asks what a run would do that wants just what is recorded.
func typeOf(s *plan.Step) Type {
	r, l, why := s.Entry, s.Live, s.Reason
	if r.Excluded {
		return ""
	}
	switch why {
	case reason.Completed:
		if s.Action != plan.ActionPurge {
			return ""
		}
		return Unconfirmed
	case reason.UpToDate, reason.CreatedOnce, reason.Unmanaged:
		return ""
	case reason.Vanished:
		return Missing
	case reason.New:
		return Unconfirmed
	case reason.Deleting:
		return Leaving
	case reason.Foreign, reason.Takeover:
		return Foreign
	case reason.Orphan:
		return Orphaned
	}
	switch {
	case r.UID != "" && r.UID != string(l.UID):
		return Replaced
	case why == reason.Untracked:
		return Untracked
	case why == reason.Drifted:
		return typeOfDrift(s)
	}
	return Unconfirmed
}

// typeOfDrift tells drift from a conflict. A run would look at an object of which it is
// not known whether it drifted: that is no finding.
func typeOfDrift(s *plan.Step) Type {
	switch {
	case !s.Drifted():
		return ""
	case s.Entry.Conflict != lynq.ConflictForce && len(s.Live.Takers) > 0:
		return Conflict
	}
	return Drifted
}

// untracked says what is wrong with an object's tracking.
func untracked(me plan.Owner, o *plan.Object, l *tracking.Live) string {
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
	note(true, l.Hub == me.Hub.Name, "label "+wellknown.LabelHub)
	note(true, l.PartOf == me.PartOf, "label "+wellknown.LabelPartOf)
	note(o.Owned, owned, "the owner reference")
	note(!o.Owned, labelled, "its node's labels")
	note(true, !o.Policy.Creation.Once() || o.Annotated(l), "annotations that lynqctl writes")
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
func (v *verifier) unrecorded(l *tracking.Live) (Finding, bool) {
	f := Finding{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: l.Hub}}, Object: l.Ref, ID: l.ResourceID, Type: Unrecorded}
	if v.recorded[l.Ref] || v.uids[l.UID] || l.Orphaned || l.Deleting || l.ResourceID == "" || l.TakenOver() != "" {
		return f, false
	}
	f.Fix = "apply records it if a form has it, inventory rebuild in any case"
	if inv := v.nodeOf(l); inv != nil {
		f.NodeID, f.What = inv.Node, "no inventory has an entry for it"
		return f, true
	}
	f.What = "its node has no inventory"
	if l.Node != "" {
		f.Namespace, f.Name = l.NodeNamespace, l.Node
		return f, l.PartOf == partOf(f.Key()) && !v.broken[l.PartOf]
	}
	// A record that is gone owned it, in the same namespace. Its name is not
	// known; other tools that put labels such as these write under other names.
	f.Namespace = l.Namespace
	return f, l.PartOf != "" && (l.Fields != "" || l.Updated) && !v.broken[l.PartOf]
}

// nodeOf is the node whose tracking an object has, nil where none that is
// known does.
func (v *verifier) nodeOf(l *tracking.Live) *inventory.Inventory {
	for _, uid := range l.Owners {
		if inv := v.byUID[uid]; inv != nil {
			return inv
		}
	}
	if k, known := v.records.NodeOf(l.PartOf); known {
		return v.nodes[k]
	}
	if inv := v.nodes[l.Labelled()]; inv != nil && inv.Node.Hub.Name == l.Hub {
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
