package status

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Comparison is the input of Find.
type Comparison struct {
	// Inventories are the inventories to compare.
	Inventories []*inventory.Inventory
	// Others are further inventories. Objects in them count as recorded.
	Others []*inventory.Inventory
	// Broken names the nodes with unreadable inventories. Nobody knows which objects these
	// list.
	Broken map[lynq.NodeKey]bool
	// Live has every existing object that Inventories list.
	Live map[lynq.Ref]*tracking.Live
	// Misplaced are the objects that can't exist.
	Misplaced map[lynq.Ref]*plan.ScopeError
	// Tracked are the objects with the label of a hub, of all kinds, without records. Find
	// searches them for unrecorded objects.
	Tracked []*tracking.Live
}

// Type is a kind of difference. Scripts may compare the words.
type Type string

// The types of findings.
const (
	Missing         Type = "Missing"     // recorded, but it doesn't exist
	Replaced        Type = "Replaced"    // somebody deleted it and created it again
	Foreign         Type = "Foreign"     // another node, controller or tool owns it
	FindingOrphaned Type = "Orphaned"    // marked as an orphan, although recorded
	FindingLeaving  Type = "Leaving"     // somebody is deleting it
	Unconfirmed     Type = "Unconfirmed" // no run confirmed its last write
	Untracked       Type = "Untracked"   // its tracking is missing, or differs from its policies
	Drifted         Type = "Drifted"     // other clients changed fields that lynqctl manages
	Conflict        Type = "Conflict"    // another client applied fields that lynqctl managed, and apply leaves them
	Unrecorded      Type = "Unrecorded"  // it has tracking, but no inventory has an entry for it
)

// Types returns all types.
func Types() []Type {
	return []Type{
		Missing, Replaced, Foreign, FindingOrphaned, FindingLeaving,
		Unconfirmed, Untracked, Drifted, Conflict, Unrecorded,
	}
}

// Finding is one object that differs from the inventories.
type Finding struct {
	// NodeID comes from the inventory. Without an inventory it comes from the object's
	// labels: node and hub, without the hub's namespace.
	lynq.NodeID
	// Object may be the inventory itself.
	Object lynq.Ref
	ID     string // the id of the resource in its form, "" for the inventory
	Type   Type
	// What describes the problem, and Fix how to solve it, for people.
	What, Fix string
}

// Find compares inventories with the cluster. It finds differences that an apply of the
// recorded state would fix, and objects without an entry. It returns at most one finding
// for an object, sorted by node and object. For an inventory that somebody deleted, it
// returns only that. Objects that a user marked as unmanaged aren't findings.
//
// It is a pure function.
func Find(in *Comparison) []Finding {
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
	in       *Comparison
	records  *decide.Records
	nodes    map[lynq.NodeKey]*inventory.Inventory
	byUID    map[types.UID]*inventory.Inventory
	recorded map[lynq.Ref]bool
	uids     map[types.UID]bool // the uids of recorded objects
	broken   map[string]bool    // the ApplySet ids of unreadable inventories
}

func newVerifier(in *Comparison) *verifier {
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

// partOf returns the ApplySet id of a node.
func partOf(k lynq.NodeKey) string { return inventory.ID(k.Namespace, inventory.Name(k.Name)) }

// node compares one inventory with the cluster.
func (v *verifier) node(inv *inventory.Inventory) []Finding {
	f := Finding{NodeID: inv.Node}
	if inv.Deleting {
		f.Object = lynq.Ref{Kind: "ConfigMap", Namespace: inv.Node.Namespace, Name: inventory.Name(inv.Node.Name)}
		f.Type, f.What, f.Fix = FindingLeaving, "someone deleted the node's inventory", inventory.WaysOut(f.Key())
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

// object compares one entry with the live object, and reports whether they differ.
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
		case me.OtherHub(l) != "":
			f.Fix = "restore the labels of the inventory, which names another hub"
		case r.Conflict == lynq.ConflictForce:
			f.Fix = "apply takes it over again (conflictPolicy: Force)"
		}
	case FindingOrphaned:
		f.What, f.Fix = "it is marked as an orphan", "apply takes it back"
	case FindingLeaving:
		f.What, f.Fix = "it "+l.Rare().Ending, "apply creates it again when it is deleted"
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
		f.What = "another client changed fields that lynqctl manages, and " + quotedList(l.Rare().AppliedBy) + " applied fields since"
		f.Fix = "apply doesn't take over fields that another client applied: remove the field there or from the form, or set conflictPolicy: Force"
	}
	return true
}

// typeOf returns the type of the difference, from the step that would apply the recorded
// state.
func typeOf(s *plan.Step) Type {
	r, l, why := s.Entry, s.Live, s.Reason
	if r.Excluded {
		return ""
	}
	switch why {
	case plan.ReasonCompleted:
		if s.Action != plan.ActionPurge {
			return ""
		}
		return Unconfirmed
	case plan.ReasonUpToDate, plan.ReasonCreatedOnce, plan.ReasonUnmanaged:
		return ""
	case plan.ReasonVanished:
		return Missing
	case plan.ReasonNew:
		return Unconfirmed
	case plan.ReasonDeleting:
		return FindingLeaving
	case plan.ReasonForeign, plan.ReasonTakeover:
		return Foreign
	case plan.ReasonOrphan:
		return FindingOrphaned
	}
	switch {
	case r.UID != "" && r.UID != string(l.UID):
		return Replaced
	case why == plan.ReasonUntracked:
		return Untracked
	case why == plan.ReasonDrifted:
		return typeOfDrift(s)
	}
	return Unconfirmed
}

// typeOfDrift returns Drifted, Conflict or "". If it isn't known whether the object
// drifted, a run would check, and that isn't a finding.
func typeOfDrift(s *plan.Step) Type {
	switch {
	case !s.Drifted():
		return ""
	case s.Entry.Conflict != lynq.ConflictForce && len(s.Live.Rare().AppliedBy) > 0:
		return Conflict
	}
	return Drifted
}

// untracked describes the problem with an object's tracking.
func untracked(me plan.Owner, o *plan.Object, l *tracking.Live) string {
	owned := me.Owns(l)
	labelled := l.Node != "" && l.NodeNamespace != ""
	if o.Owned {
		labelled = l.Node != "" || l.NodeNamespace != "" || l.HubNamespace != ""
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
	note(!o.Owned, !o.Owned && me.LabelsHub(l), "its hub's label "+wellknown.LabelHubNamespace)
	note(true, l.PartOf == me.PartOf, "label "+wellknown.LabelPartOf)
	note(o.Owned, owned, "the owner reference")
	note(!o.Owned, labelled, "its node's labels")
	note(true, o.Marked(l) && (!o.Policy.Creation.Once() || o.Annotated(l)), "annotations that lynqctl writes")
	what := ""
	if len(lacks) > 0 {
		what = "it lacks " + strings.Join(lacks, ", ")
	}
	if len(has) > 0 {
		what = strings.TrimPrefix(what+"; it has ", "; ") + strings.Join(has, ", ") + ", which its policies do not want"
	}
	return what
}

// unrecorded reports whether an object has tracking but no entry. Its node must have an
// inventory, or lynqctl must have applied it for a node with a lost inventory. Controllers
// copy labels to their objects, so copies without the resource's id, or with a controller,
// don't count.
func (v *verifier) unrecorded(l *tracking.Live) (Finding, bool) {
	f := Finding{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: l.Hub}}, Object: l.Ref, ID: l.ResourceID, Type: Unrecorded}
	if v.recorded[l.Ref] || v.uids[l.UID] || l.Orphaned || l.Deleting || l.ResourceID == "" || l.TakenOver() != "" {
		return f, false
	}
	if inv := v.nodeOf(l); inv != nil {
		f.NodeID, f.What = inv.Node, "no inventory has an entry for it"
		f.Fix = "apply records it if a form has it; from a copy, remove the owner reference and label lynq.sh/hub; after inventory rebuild, apply deletes what no form has"
		return f, true
	}
	f.What, f.Fix = "its node has no inventory", "apply records it if a form has it, inventory rebuild in any case"
	if l.Node != "" {
		f.Namespace, f.Name = l.NodeNamespace, l.Node
		return f, l.PartOf == partOf(f.Key()) && !v.broken[l.PartOf]
	}
	// A lost inventory in the same namespace owned it. The inventory's name isn't known.
	// Other tools with such labels write under other manager names.
	f.Namespace = l.Namespace
	return f, l.PartOf != "" && (l.Fields != "" || l.Updated) && !v.broken[l.PartOf]
}

// nodeOf returns the inventory that the object's tracking names, or nil if it isn't known.
func (v *verifier) nodeOf(l *tracking.Live) *inventory.Inventory {
	for _, uid := range l.Owners {
		if inv := v.byUID[uid]; inv != nil {
			return inv
		}
	}
	if k, known := v.records.NodeOf(l.PartOf); known {
		return v.nodes[k]
	}
	if inv := v.nodes[l.Labelled()]; inv != nil && plan.NewOwner(inv.Node.Key(), inv.Node.Hub, inv).SameHub(l) {
		return inv
	}
	return nil
}

// quotedList joins names: "argocd" and "helm".
func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	slices.Sort(quoted)
	return strings.Join(slices.Compact(quoted), " and ")
}
