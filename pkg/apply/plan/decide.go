package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Input is everything that a plan for one hub is decided on.
type Input struct {
	Hub string
	// HubNamespace tells hubs of one name apart: the nodes of others are left
	// alone.
	HubNamespace string
	// Exclude has the rules that exclude objects, by form; nil where they are not known,
	// and what is recorded as excluded stays so.
	Exclude map[lynq.FormKey]lynq.Exclusions
	// NamespaceDefaults is what the hub says is in namespaces by itself.
	NamespaceDefaults []lynq.NamespaceDefault
	// Nodes are what the active rows want, in the order in which they are to
	// run. Narrowed runs have only those that were named.
	Nodes []*Node
	// Forms are the forms of the run. Nodes of others are left alone.
	Forms []lynq.FormKey
	// Hooks are what the forms say of their hooks. One that is not in it is not known: then
	// records alone tell of its hooks, which is enough for little.
	Hooks []FormHooks
	// Only, where it is not nil, names the nodes that may go.
	Only map[string]bool
	// Narrowed: a selector leaves objects out. It is not known which of those that
	// are wanted no more it would have left, so that nothing goes.
	Narrowed bool
	// Concerned, where it is not nil, names the nodes that are planned; see Narrow.
	Concerned map[NodeKey]bool
	// Delete names the nodes that go whatever the rows say, and Cascade how
	// those and all others that go do so.
	Delete  map[NodeKey]bool
	Cascade Cascade
	// GiveUp names recorded objects whose cleanup is not to be tried any more.
	// Those of them that could not even be looked at have a reason here.
	GiveUp map[lynq.Ref]error
	// KeepContent: what is taken back is tracked, and its content left alone.
	KeepContent bool
	// AdoptNothing: what is not the hub's already is left alone, whatever the forms
	// say. TakeBack: orphans are taken back, whatever they say.
	AdoptNothing, TakeBack bool
	// IncludeData: patchStrategy recreate counts for what holds data, too.
	IncludeData bool
	// Elsewhere is what the other rows, forms and hubs of the inputs render, nil where
	// Nodes are all of them, or where there are no inputs.
	Elsewhere *Survey
	// Active is how many rows of the hub are active, narrowed or not.
	Active int
	// Inventories are all of the hub's that could be read, and Broken those
	// that could not. A broken one's node is left alone.
	Inventories []*inventory.Inventory
	Broken      map[NodeKey]error
	// Taken are the inventories of other hubs that have the name of a node in Nodes.
	Taken map[NodeKey]*inventory.Inventory
	// Live has every object that Nodes want or Inventories name, as far as
	// there is one.
	Live map[lynq.Ref]*Live
	// Unknown are those that could not be looked at, and Misplaced those that
	// cannot be there: see Observed.
	Unknown   map[lynq.Ref]error
	Misplaced map[lynq.Ref]*ScopeError
	// Strays refer to an inventory, and none lists them: see Observed.
	Strays map[lynq.Ref]*Live
	// OperatorNodes is how many LynqNode resources the hub has in the namespaces
	// that count.
	OperatorNodes int
	// Now is when the plan is made.
	Now time.Time
	// HubDeleting: the hub's record was deleted, which its finalizer holds.
	HubDeleting bool
	// Deletions are what a watch deleted lately, as the hub's record has them.
	Deletions []inventory.Deletions
}

func (in *Input) hubKey() lynq.HubKey {
	return lynq.HubKey{Namespace: in.HubNamespace, Name: in.Hub}
}

// planned tells whether a node is planned.
func (in *Input) planned(k NodeKey) bool { return in.Concerned == nil || in.Concerned[k] }

// Limits are the guards that a person may move.
type Limits struct {
	AllowEmpty bool
	MaxDelete  MaxDelete
	// Window is over what time MaxDelete counts, 0 for one plan alone.
	Window time.Duration
}

// Decide makes the plan of one hub. It is a pure function: the same input gives
// the same plan.
func Decide(in *Input, l Limits) *Plan {
	d := newDecider(in)
	p := &Plan{Hub: in.hubKey(), rules: d.rules()}
	for _, n := range in.Nodes {
		if in.planned(n.NodeKey) {
			p.Nodes = append(p.Nodes, d.node(n))
		}
	}
	p.Whole = len(d.Broken) == 0 && in.Concerned == nil
	for _, inv := range d.Inventories {
		key := NodeKey{inv.Namespace, inv.Node}
		switch {
		case d.nodes[key] != nil, inv.HubNamespace != "" && inv.HubNamespace != d.HubNamespace, !in.planned(key):
		case d.untouched[key] != nil:
			p.Nodes = append(p.Nodes, d.kept(inv, d.untouched[key]))
		case !d.goes(inv):
			p.Whole = false
		case d.Delete[key] || inv.Deleting:
			p.Nodes = append(p.Nodes, d.leaving(inv, ReasonNodeDeleted))
		default:
			p.Nodes = append(p.Nodes, d.leaving(inv, ReasonNodeGone))
		}
	}
	p.Nodes = append(p.Nodes, d.broken()...)
	for i := range p.Nodes {
		p.Nodes[i].NamespaceDefaults = in.NamespaceDefaults
	}
	staying := d.orderNodes(p)
	p.Count()
	if l.Window > 0 {
		p.Losses = d.losses().nodes
	}
	p.Refusals = append(d.refusals(l), d.refuseDependents(staying)...)
	return p
}

// decider is an input with its indexes.
type decider struct {
	*Input
	inventories map[NodeKey]*inventory.Inventory
	applySets   map[string]NodeKey   // by ApplySet id
	desired     map[lynq.Ref]NodeKey // who wants an object
	nodes       map[NodeKey]*Node
	misnamed    misnamed
	// unknown are nodes that did not render: what they want is not known; and those
	// that are left as they are, with why they are.
	unknown   map[NodeKey]bool
	untouched map[NodeKey]error
	// held are the objects in the inventories of refused nodes, by those inventories.
	held map[lynq.Ref][]NodeKey
	// replacements are of the inventories that were deleted, of the nodes that are wanted.
	replacements map[NodeKey]*Replacement
	claims       *claimIndex
	// owned are the namespaces in which nodes with a hook elsewhere own something.
	owned map[NodeKey]map[string]bool
	// holding: no object leaves its node.
	holding bool
}

func newDecider(in *Input) *decider {
	d := &decider{
		Input:       in,
		claims:      claimsOf(in.Nodes),
		inventories: make(map[NodeKey]*inventory.Inventory, len(in.Inventories)),
		applySets:   make(map[string]NodeKey, len(in.Inventories)),
		desired:     map[lynq.Ref]NodeKey{},
		nodes:       make(map[NodeKey]*Node, len(in.Nodes)),
		unknown:     map[NodeKey]bool{},
		untouched:   map[NodeKey]error{},
	}
	for _, inv := range in.Inventories {
		k := NodeKey{inv.Namespace, inv.Node}
		d.inventories[k] = inv
		d.applySets[inventory.ID(k.Namespace, inventory.Name(k.Name))] = k
	}
	for _, n := range in.Nodes {
		d.nodes[n.NodeKey] = n
		if n.Failed != nil {
			d.unknown[n.NodeKey] = true
		}
		for i := range n.Objects {
			d.desired[n.Objects[i].Ref] = n.NodeKey
		}
	}
	d.owned = d.findOwned()
	d.misnamed = d.findMisnamed()
	d.judgeUnknown()
	d.replaceDeleted()
	d.keepRefused()
	return d
}

// rules are what steps are decided by, whatever was observed.
func (d *decider) rules() *decider {
	rules, in := *d, *d.Input
	in.Live, rules.Input = nil, &in
	return &rules
}

// Owner is a node as its objects' tracking has it.
type Owner struct {
	NodeKey
	hub    string
	PartOf string
	UID    types.UID // of the inventory, "" for a new one
}

func (d *decider) owner(k NodeKey) Owner { return NewOwner(k, d.Hub, d.inventories[k]) }

// NewOwner is a node whose inventory may be nil.
func NewOwner(k NodeKey, hub string, inv *inventory.Inventory) Owner {
	o := Owner{NodeKey: k, hub: hub, PartOf: inventory.ID(k.Namespace, inventory.Name(k.Name))}
	if inv != nil {
		o.UID = types.UID(inv.UID)
	}
	return o
}

// node plans a node that is wanted.
func (d *decider) node(n *Node) NodePlan {
	inv := d.inventories[n.NodeKey]
	p := NodePlan{
		NodeKey: n.NodeKey, Hub: n.Hub, HubNamespace: d.HubNamespace, Form: n.Form, FormNamespace: n.FormNamespace, UID: n.UID,
		Desired: n, Inventory: inv,
	}
	if inv != nil && !n.is(inv) {
		p.Inventory = nil // it is not the node's to say anything in
	}
	if err := d.obstacle(n, inv); err != nil {
		failed := *n
		failed.Failed = err
		p.Desired = &failed
		return p
	}
	entries := entriesOf(inv)
	me := d.owner(n.NodeKey)
	if p.Replacement = d.replacements[n.NodeKey]; p.Replacement != nil {
		me.UID = "" // what belongs to the inventory that goes gets a new owner
	}
	for i := range n.Objects {
		o := &n.Objects[i]
		p.Steps = append(p.Steps, d.step(me, o, entries[o.Ref], d.Live[o.Ref]))
		delete(entries, o.Ref)
	}
	n.freed(p.Steps)
	dropped := d.leave(me, inv, entries, ReasonRemoved)
	for i := range dropped {
		if s := &dropped[i]; s.Reason == ReasonRemoved && slices.Contains(n.NotIncluded, s.Entry.ID) {
			s.Reason = ReasonNotIncluded
		}
	}
	p.Steps = append(append(p.Steps, dropped...), d.leftovers(me, inv)...)
	p.tellLosses()
	return p
}

// obstacle is why nothing of a node can be planned, nil for most.
func (d *decider) obstacle(n *Node, inv *inventory.Inventory) error {
	switch {
	case n.Failed != nil:
		return n.Failed
	case d.Broken[n.NodeKey] != nil:
		return d.Broken[n.NodeKey]
	case inv == nil && d.Taken[n.NodeKey] != nil:
		return n.taken(d.Taken[n.NodeKey])
	case inv == nil:
		return cmp.Or(d.misnamed.obstacle(n), d.untouched[n.NodeKey])
	case !n.is(inv):
		return n.taken(inv)
	}
	var stays error
	if r := d.replacements[n.NodeKey]; r != nil {
		stays = r.Stays
	}
	return cmp.Or(stays, d.misnamed.obstacle(n), d.untouched[n.NodeKey])
}

// replaceDeleted decides how the inventories are replaced that were deleted while their
// rows want them.
func (d *decider) replaceDeleted() {
	var referring map[types.UID][]*Live
	for _, n := range d.Nodes {
		inv := d.inventories[n.NodeKey]
		if inv == nil || !inv.Deleting {
			continue
		}
		if d.replacements == nil {
			d.replacements, referring = map[NodeKey]*Replacement{}, d.observed().Referring()
		}
		me := d.owner(n.NodeKey)
		d.replacements[n.NodeKey] = Replace(inv, d.observed(), referring[me.UID], func(r *inventory.Entry) string { return d.excluded(me, r) })
	}
}

// broken plans the nodes that nothing wants and whose records cannot be read:
// it is not known what they own, so that they stay, and are reported.
func (d *decider) broken() []NodePlan {
	var plans []NodePlan
	for key, err := range d.Broken {
		if d.nodes[key] == nil && (d.Only == nil || d.Only[key.Name]) && d.planned(key) {
			plans = append(plans, NodePlan{NodeKey: key, Hub: d.Hub, Desired: &Node{NodeKey: key, Hub: d.Hub, Failed: err}})
		}
	}
	slices.SortFunc(plans, func(a, b NodePlan) int { return strings.Compare(a.String(), b.String()) })
	return plans
}

// entriesOf are the records of an inventory, which may be nil.
func entriesOf(inv *inventory.Inventory) map[lynq.Ref]*inventory.Entry {
	if inv == nil {
		return nil
	}
	entries := make(map[lynq.Ref]*inventory.Entry, len(inv.Entries))
	for i := range inv.Entries {
		entries[inv.Entries[i].Ref] = &inv.Entries[i]
	}
	return entries
}

// goes tells whether the node of an inventory is wanted no more, by the rows or by
// a person who named it. An inventory that is being deleted without our finalizer
// was cleaned up before, or is not ours to clean up (seed: finalizers, the four
// states).
func (d *decider) goes(inv *inventory.Inventory) bool {
	key := NodeKey{inv.Namespace, inv.Node}
	return d.Delete[key] || d.nodes[key] == nil && !d.misnamed.recorded[key] && d.within(inv) && (!inv.Deleting || inv.Finalizer)
}

// within tells whether this run may let the node of an inventory go.
func (d *decider) within(inv *inventory.Inventory) bool {
	return !d.Narrowed && d.counts(inv) && (d.Only == nil || d.Only[inv.Node])
}

// counts tells whether an inventory is of the hub, and of a form of the run.
func (d *decider) counts(inv *inventory.Inventory) bool {
	return (inv.HubNamespace == "" || inv.HubNamespace == d.HubNamespace) &&
		slices.ContainsFunc(d.Forms, func(f lynq.FormKey) bool { return ofForm(inv, f) })
}

// ofForm tells whether an inventory is of a form.
func ofForm(inv *inventory.Inventory, f lynq.FormKey) bool {
	return f.Name == inv.Form && (inv.FormNamespace == "" || inv.FormNamespace == f.Namespace)
}

// leaving plans a node that is wanted no more.
func (d *decider) leaving(inv *inventory.Inventory, why Reason) NodePlan {
	p := NodePlan{
		NodeKey: NodeKey{inv.Namespace, inv.Node}, Hub: inv.Hub, HubNamespace: inv.HubNamespace, Form: inv.Form, FormNamespace: inv.FormNamespace, UID: inv.RowUID,
		Inventory: inv, Cascade: d.Cascade, Deleted: why == ReasonNodeDeleted,
	}
	me := d.owner(p.NodeKey)
	p.Strays = d.straysOf(me)
	p.Steps = d.leave(me, inv, entriesOf(inv), why)
	row := d.claims.node(inv)
	if row != nil && why == ReasonNodeGone {
		wait(p.Steps, row)
		return p
	}
	if d.Cascade == CascadeBackground && len(inv.DependForms) == 0 {
		collect(me, p.Steps)
	}
	p.Steps = slices.Concat(d.hooks(me, inv), p.Steps, d.afterHooks(me, inv, why))
	return p
}

// straysOf are the objects that refer to a node's inventory, and that no entry names.
func (d *decider) straysOf(me Owner) []*Live {
	var strays []*Live
	for _, l := range d.observed().Strays {
		if me.Owns(l) {
			strays = append(strays, l)
		}
	}
	slices.SortFunc(strays, func(a, b *Live) int { return strings.Compare(a.String(), b.String()) })
	return strays
}

// wait has all that a node owns stay as it is until a row renders.
func wait(steps []Step, row *Node) {
	for i := range steps {
		steps[i].Action, steps[i].Reason, steps[i].Message = ActionSkip, ReasonRowUnknown, row.holds()
	}
}

// collect leaves to the garbage collector what it deletes as we would: objects
// that have no other owner, none of which is to go before another, or before
// what contains it.
func collect(me Owner, steps []Step) {
	var deleted []*Step
	for i := range steps {
		if steps[i].Action == ActionDelete {
			deleted = append(deleted, &steps[i])
		}
	}
	for _, s := range deleted {
		if s.Entry.Order != deleted[0].Entry.Order || s.Entry.DeleteOrder != deleted[0].Entry.DeleteOrder || IsContainer(s.Entry.Ref) {
			return
		}
	}
	for _, s := range deleted {
		if me.Collected(s.Live) {
			s.Action = ActionCollect
		}
	}
}

// Collected tells whether an object goes with the node's inventory.
func (me Owner) Collected(l *Live) bool { return len(l.Owners) == 1 && l.Owners[0] == me.UID }

// leave plans what becomes of the recorded objects that are wanted no more: wave by
// wave, and in each in the reverse of the order in which they were made.
func (d *decider) leave(me Owner, inv *inventory.Inventory, entries map[lynq.Ref]*inventory.Entry, why Reason) []Step {
	if inv == nil {
		return nil
	}
	var steps []Step
	for i := range inv.Entries {
		r := &inv.Entries[i]
		if entries[r.Ref] == r {
			steps = append(steps, d.leavingStep(me, r, d.Live[r.Ref], why))
		}
	}
	slices.SortStableFunc(steps, func(a, b Step) int {
		return cmp.Or(a.Entry.DeleteOrder-b.Entry.DeleteOrder, b.Entry.Order-a.Entry.Order)
	})
	return steps
}

// leavingStep plans one object that its node wants no more. The policy that
// counts is the one that was recorded, on the object or in the inventory: where
// they differ, the one that keeps it.
func (d *decider) leavingStep(me Owner, r *inventory.Entry, l *Live, why Reason) Step {
	q := &question{asker: AskerNode, me: me, entry: r, live: l, why: why, adopted: r.Adopted, keeps: r.Deletion}
	if l != nil {
		q.keeps = r.Deletion.Or(l.DeletionPolicy)
	}
	a := d.gate(q)
	return Step{Action: a.Action, Reason: a.Reason, Message: a.Message, To: a.To, Entry: r, Live: l, Adopted: r.Adopted}
}

// nodeStays tells of the reason why an object goes whether its node stays.
func (r Reason) nodeStays() bool {
	return r == ReasonRemoved || r == ReasonNotIncluded || r == ReasonLeftover
}

// notSeen plans an object that was not seen: it is gone, or could not be looked at.
func (d *decider) notSeen(s *Step) {
	why := d.GiveUp[s.Entry.Ref]
	switch {
	case why != nil:
		s.Action, s.Reason, s.Message = ActionRelease, ReasonGivenUp, "it is left behind, as it is: "+why.Error()
	case s.Entry.Phase == inventory.PhaseCompleted && !d.unseen(s):
		s.Action, s.Reason = ActionRelease, ReasonCompleted
	case !d.unseen(s):
		s.Action, s.Reason = ActionRelease, ReasonAlreadyGone
	}
}

// givenUp tells whether a person said to leave an object behind.
func (d *decider) givenUp(ref lynq.Ref) bool {
	_, named := d.GiveUp[ref]
	return named
}

// releaseForeign tells whether an object that its node wants no more is not the node's
// to delete or to mark, and what the step is then: it is let go, or left alone.
func (me Owner) releaseForeign(s *Step, l *Live) bool {
	switch {
	case l.Record:
		s.Action, s.Reason, s.Message = ActionRelease, ReasonTakenOver, neverDeleted
	case !me.Tracks(l):
		s.Action, s.Reason, s.Message = ActionRelease, ReasonTakenOver, "it no longer has this node's tracking"
	case l.Unmanaged:
		me.leaveAlone(s, l)
	case l.takenOver() != "":
		s.Action, s.Reason, s.Message = ActionRelease, ReasonTakenOver, "it is now of "+l.takenOver()
	default:
		return false
	}
	return true
}

// step plans one object that its node wants.
func (d *decider) step(me Owner, o *Object, r *inventory.Entry, l *Live) Step {
	if o.Policy.Hook() {
		return d.hook(me, o, r, l)
	}
	s := d.wanted(me, o, r, l)
	s.Adopted = d.adopted(me, &s)
	d.recreate(me, &s)
	return s
}

func (d *decider) wanted(me Owner, o *Object, r *inventory.Entry, l *Live) Step {
	s := Step{Object: o, Entry: r, Live: l}
	switch {
	case o.LeftOut:
		s.Action, s.Reason = ActionKeep, ReasonLeftOut
		return s
	case o.Exclusion != nil:
		s.Action, s.Reason, s.Message = ActionSkip, ReasonExcluded, excludedBy(o.Exclusion)
		return s
	case d.purged(me, &s):
		return s
	case l == nil:
		s.Action, s.Reason = ActionCreate, ReasonNew
		if r != nil && r.UID != "" {
			s.Reason = ReasonVanished
		}
		return s
	case l.Record:
		s.Action, s.Reason, s.Message = ActionBlock, ReasonForeign, neverTaken
		return s
	case l.Deleting:
		s.Action, s.Reason, s.Message = ActionCreate, ReasonDeleting, "it "+l.Ending+"; it is created again when it is gone"
		return s
	case l.Unmanaged:
		me.leaveAlone(&s, l)
		return s
	}
	if d.contested(me, &s) {
		return s
	}
	if d.settled(me, o, r, l) {
		s.Action, s.Reason = d.once(me, o, r, l)
		return s
	}
	s.Action, s.Reason = d.compare(me, o, r, l)
	return s
}

// once plans an object that was created, and is left alone ever since: only its
// tracking may change.
func (d *decider) once(me Owner, o *Object, r *inventory.Entry, l *Live) (Action, Reason) {
	switch {
	case l.Orphaned:
		return ActionTrack, ReasonOrphan
	case !me.Tracked(o, l) || !o.annotated(l):
		return ActionTrack, ReasonUntracked
	case r == nil || r.UID != string(l.UID) || r.Digest == "" || r.ID != o.ID || r.Deletion != o.Policy.Deletion:
		return ActionTrack, ReasonUnconfirmed
	}
	return ActionKeep, ReasonCreatedOnce
}

// compare plans an object that is ours, or has no owner.
func (d *decider) compare(me Owner, o *Object, r *inventory.Entry, l *Live) (Action, Reason) {
	switch {
	case l.Orphaned && d.KeepContent:
		return ActionTrack, ReasonOrphan
	case l.Orphaned:
		return ActionAdopt, ReasonOrphan
	case d.KeepContent && me.Tracked(o, l):
		return ActionKeep, ReasonUpToDate
	case d.KeepContent:
		return ActionTrack, ReasonUntracked
	case !me.Tracks(l) && (r == nil || r.UID != string(l.UID)):
		return ActionAdopt, ReasonUnowned
	case r == nil || r.Digest == "" || r.UID == "":
		return ActionUpdate, ReasonUnconfirmed
	case r.UID != string(l.UID):
		return ActionUpdate, ReasonReplaced
	case r.Digest != o.Digest:
		return ActionUpdate, ReasonChanged
	case !me.Tracked(o, l):
		return ActionUpdate, ReasonUntracked
	case drifted(o, r, l):
		return ActionUpdate, ReasonDrifted
	case due(o, r, d.Now):
		return ActionUpdate, ReasonDue
	}
	return ActionKeep, ReasonUpToDate
}

// due tells whether an object is to be written again for the time that has passed since
// it was written, or since a time that is not known. A time that is yet to come is that of a
// clock that is wrong, or was: waiting for it might last for ever.
func due(o *Object, r *inventory.Entry, now time.Time) bool {
	every := o.Policy.ReapplyInterval
	return every > 0 && (r.Written.After(now) || now.Sub(r.Written) >= every)
}

// drifted tells whether others may have changed what we wrote, so that a run has to look.
func drifted(o *Object, r *inventory.Entry, l *Live) bool { return driftOf(o, r, l) != driftNone }

// Repairs tells whether fields that others hold now can only be ours, which were
// changed since: the object is ours, and either wants nothing new, or was changed by
// others since we wrote it.
func (s *Step) Repairs() bool {
	if s.Action != ActionUpdate && s.Action != ActionRecreate || s.Entry == nil || s.Live == nil || s.Entry.Digest == "" || s.Entry.UID != string(s.Live.UID) {
		return false
	}
	return s.Entry.Digest == s.Object.Digest || drifted(s.Object, s.Entry, s.Live)
}

// unrecorded tells whether we applied an object after what is recorded of it, as
// a run does that is killed before it has recorded that. Most such writes show
// in their time; these are from the same second.
func unrecorded(r *inventory.Entry, l *Live) bool {
	return l.Last && l.ResourceVersion != r.ResourceVersion || l.LastButStatus && l.Generation != r.Generation
}

// Tracks tells whether an object has any tracking of the node. None counts without
// the label of the hub: what only an inventory claims is not proven.
func (me Owner) Tracks(l *Live) bool {
	return l.Hub == me.hub &&
		(l.PartOf == me.PartOf || l.Node == me.Name && l.NodeNamespace == me.Namespace || me.Owns(l))
}

// Owns tells whether an object has an owner reference to the node's inventory.
func (me Owner) Owns(l *Live) bool { return me.UID != "" && slices.Contains(l.Owners, me.UID) }

// holds tells whether an object belongs to the node by its owner and its ApplySet, so
// that labels of a node are stray on it.
func (me Owner) holds(l *Live) bool { return me.Owns(l) && l.PartOf == me.PartOf }

// relabelled tells whether an object belongs to the inventory and to another hub:
// then it is the inventory that does not say the truth, and must not go, for the
// object would go with it.
func (me Owner) relabelled(l *Live) bool { return me.Owns(l) && l.Hub != "" && l.Hub != me.hub }

// Tracked tells whether an object has exactly the tracking that it is to have.
func (me Owner) Tracked(o *Object, l *Live) bool {
	if l.PartOf != me.PartOf || l.Hub != me.hub {
		return false
	}
	owned := me.Owns(l)
	labelled := l.Node == me.Name && l.NodeNamespace == me.Namespace
	if o.Owned {
		return owned && l.Node == "" && l.NodeNamespace == ""
	}
	return labelled && !owned
}

// takenOver names the controller or the other tool that claims an object, ""
// for none. They may do so and leave our tracking on it.
func (l *Live) takenOver() string {
	switch {
	case l.Record:
		return "lynqctl or the Lynq operator itself"
	case l.Controller != "":
		return "controller " + l.Controller
	}
	return l.Foreign
}

// What is said of records that a node wants, or has recorded as its objects.
const (
	neverTaken   = "it is a record of lynqctl, or of the Lynq operator, and never an object of a node (choose another name)"
	neverDeleted = "it is a record of lynqctl, or of the Lynq operator: only the entry in this node's inventory goes"
)

// foreign names whose an object is, "" where it is ours or has no owner. A node that
// wants an object no more, and runs now, gives it away.
func (d *decider) foreign(me Owner, l *Live) string {
	if who := l.takenOver(); who != "" {
		return who
	}
	other := NodeKey{l.NodeNamespace, l.Node}
	if l.Node != "" && other != me.NodeKey && !me.holds(l) && !d.givesAway(other, l.Ref) {
		return "node " + other.String()
	}
	if l.PartOf == "" || l.PartOf == me.PartOf {
		return ""
	}
	k, known := d.applySets[l.PartOf]
	switch {
	case !known:
		return "ApplySet " + l.PartOf
	case d.givesAway(k, l.Ref):
		return ""
	}
	return "node " + k.String()
}

// givesAway tells whether another node of the plan has an object recorded that
// it wants no more.
func (d *decider) givesAway(k NodeKey, ref lynq.Ref) bool {
	inv := d.inventories[k]
	if inv == nil || d.unknown[k] || d.desired[ref] == k || d.nodes[k] == nil && !d.goes(inv) {
		return false
	}
	return slices.ContainsFunc(inv.All(), func(r inventory.Entry) bool { return r.Ref == ref })
}
