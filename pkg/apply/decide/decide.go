package decide

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/claim"
	"github.com/lynqctl/lynqctl/pkg/apply/container"
	"github.com/lynqctl/lynqctl/pkg/apply/declared"
	"github.com/lynqctl/lynqctl/pkg/apply/formorder"
	"github.com/lynqctl/lynqctl/pkg/apply/grace"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/toll"
)

// tellLosses says of the steps that delete data which of the objects that are wanted
// replaces it.
func tellLosses(steps []plan.Step, wanted []plan.Object) {
	for i := range steps {
		s := &steps[i]
		if !s.Loss() {
			continue
		}
		message := "its data is lost"
		for j := range wanted {
			if wanted[j].ID == s.Entry.ID {
				message = wanted[j].String() + " replaces it, and its data is lost"
			}
		}
		if s.Message != "" {
			message = s.Message + "; " + message
		}
		s.Message = message
	}
}

// Input is everything that a plan for one hub is decided on.
type Input struct {
	// Hub is the hub of the plan: the nodes of others of its name are left alone.
	Hub lynq.HubKey
	// Exclude has the rules that exclude objects, by form; nil where they are not known,
	// and what is recorded as excluded stays so.
	Exclude map[lynq.FormKey]lynq.Exclusions
	// NamespaceDefaults is what the hub says is in namespaces by itself.
	NamespaceDefaults []lynq.NamespaceDefault
	// Nodes are what the active rows want, in the order in which they are to
	// run. Narrowed runs have only those that were named.
	Nodes []*plan.Node
	// Forms are the forms of the run. Nodes of others are left alone.
	Forms []lynq.FormKey
	// Hooks are what the forms say of their hooks. One that is not in it is not known: then
	// records alone tell of its hooks, which is enough for little.
	Hooks []declared.Form
	// Only, where it is not nil, names the nodes that may go.
	Only map[string]bool
	// Narrowed: a selector leaves objects out. It is not known which of those that
	// are wanted no more it would have left, so that nothing goes.
	Narrowed bool
	// Concerned, where it is not nil, names the nodes that are planned; see Narrow.
	Concerned map[lynq.NodeKey]bool
	// Sharded: other runs plan the nodes that are not concerned; see InShard.
	Sharded bool
	// Gone are nodes that a concern names, and that neither rows nor inventories have.
	Gone []lynq.NodeKey
	// Delete names the nodes that go whatever the rows say, and Cascade how
	// those and all others that go do so.
	Delete  map[lynq.NodeKey]bool
	Cascade plan.Cascade
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
	Broken      map[lynq.NodeKey]error
	// Taken are the inventories of other hubs that have the name of a node in Nodes.
	Taken map[lynq.NodeKey]*inventory.Inventory
	// Live has every object that Nodes want or Inventories name, as far as
	// there is one.
	Live map[lynq.Ref]*tracking.Live
	// Unknown are those that could not be looked at, and Misplaced those that
	// cannot be there: see Observed.
	Unknown   map[lynq.Ref]error
	Misplaced map[lynq.Ref]*plan.ScopeError
	// Strays refer to an inventory, and none lists them: see Observed.
	Strays map[lynq.Ref]*tracking.Live
	// OperatorNodes is how many LynqNode resources the hub has in the namespaces
	// that count.
	OperatorNodes int
	// Renames are the nodes that had another name before, nil for none: see Rename.
	Renames *lynq.Renames
	// Grace is how long nodes are kept whose rows are gone; zero for plans that a person
	// asked for by name.
	Grace Grace
	// Now is when the plan is made.
	Now time.Time
	// HubDeleting: the hub's record was deleted, which its finalizer holds.
	HubDeleting bool
	// Deletions are what a watch deleted lately, as the hub's record has them.
	Deletions []inventory.Deletions
	// Evidence is how the rows differ from those of the last run, nil where that isn't
	// known, and Used are the columns that forms use.
	Evidence *evidence.Evidence
	Used     []string
}

// planned tells whether a node is planned.
func (in *Input) planned(k lynq.NodeKey) bool { return in.Concerned == nil || in.Concerned[k] }

// Limits are the guards that a person may move.
type Limits struct {
	AllowEmpty bool
	MaxDelete  toll.MaxDelete
	// MaxChange is how many nodes that stay may change, nil for any number.
	MaxChange *toll.MaxDelete
	// EmptyColumns may suddenly be empty.
	EmptyColumns []string
	// Window is over what time MaxDelete counts, 0 for one plan alone.
	Window time.Duration
}

// Decide makes the plan of one hub. It is a pure function: the same input gives
// the same plan.
func Decide(in *Input, l Limits) *plan.Plan { return All([]*Input{in}, l)[0] }

// All makes the plans of the hubs of one run, between which objects may move.
func All(hubs []*Input, l Limits) []*plan.Plan {
	plans := make([]*plan.Plan, len(hubs))
	for i, d := range deciders(hubs) {
		plans[i] = d.decide(l)
	}
	return plans
}

// decide makes the plan of a hub.
func (d *decider) decide(l Limits) *plan.Plan {
	in := d.in
	p := &plan.Plan{Hub: in.Hub, Gone: in.Gone, Rules: d.rules(), Evidence: in.Evidence}
	for _, n := range in.Nodes {
		if in.planned(n.Key()) {
			p.Nodes = append(p.Nodes, d.node(n))
		}
	}
	p.Whole = len(d.in.Broken) == 0 && in.Concerned == nil
	d.planLeaving(p)
	for _, inv := range d.in.Inventories {
		key := inv.Node.Key()
		switch {
		case d.nodes[key] != nil, d.leaves[key] != nil, inv.Node.Hub.Namespace != "" && inv.Node.Hub.Namespace != d.in.Hub.Namespace, !in.planned(key):
		case d.untouched[key] != nil:
			p.Nodes = append(p.Nodes, d.kept(inv, d.untouched[key]))
		case d.renamed[key] != nil:
			if r := d.renamed[key]; r.now != nil {
				p.Nodes = append(p.Nodes, d.moved(inv, r))
			} else if r.elsewhere != nil {
				p.Nodes = append(p.Nodes, d.waiting(inv, r.elsewhere))
			} else if n, named := d.asked(inv, r); named {
				p.Nodes = append(p.Nodes, n)
			} else {
				p.Whole = false
			}
		case !d.goes(inv):
			p.Whole = false
		case d.in.Delete[key], inv.Deleting && d.claims.Node(inv) == nil: // nobody knows whether the row of the latter is gone
			p.Nodes = append(p.Nodes, d.leaving(inv, reason.NodeDeleted))
		default:
			p.Nodes = append(p.Nodes, d.leaving(inv, reason.NodeGone))
		}
	}
	p.Nodes = append(p.Nodes, d.broken()...)
	for i := range p.Nodes {
		p.Nodes[i].NamespaceDefaults = in.NamespaceDefaults
	}
	dependents := formorder.Arrange(p, &formorder.Input{
		Hub: in.Hub, Nodes: in.Nodes, Inventories: in.Inventories, Broken: in.Broken, Delete: in.Delete, KeepContent: in.KeepContent,
	})
	p.Count()
	if l.Window > 0 {
		p.Losses = newGuards(d).losses().nodes
	}
	p.Refusals = append(newGuards(d).refusals(l), dependents...)
	p.Refusals = append(p.Refusals, newGuards(d).refuseChanges(p, l)...)
	return p
}

// decider is an input with its indexes.
type decider struct {
	in *Input
	// beside are the other hubs of the run.
	beside      []*decider
	inventories map[lynq.NodeKey]*inventory.Inventory
	applySets   map[string]lynq.NodeKey   // by ApplySet id
	desired     map[lynq.Ref]lynq.NodeKey // who wants an object
	nodes       map[lynq.NodeKey]*plan.Node
	misnamed    misnamed
	// unknown are nodes that did not render: what they want is not known; and those
	// that are left as they are, with why they are.
	unknown   map[lynq.NodeKey]bool
	untouched map[lynq.NodeKey]error
	// held are the objects in the inventories of refused nodes, by those inventories.
	held map[lynq.Ref][]lynq.NodeKey
	// replacements are of the inventories that were deleted, of the nodes that are wanted.
	replacements map[lynq.NodeKey]*plan.Replacement
	claims       *claim.Index
	// owned are the namespaces in which nodes with a hook elsewhere own something.
	owned map[lynq.NodeKey]map[string]bool
	// leaves are the nodes that are kept for their grace period, and ledger is what the
	// hub's record has of such nodes.
	leaves map[lynq.NodeKey]*plan.Leaving
	ledger grace.Ledger
	// renamed are the nodes that go on as others, by the names in their inventories, and
	// earlier are the inventories of the nodes that others go on as.
	renamed map[lynq.NodeKey]*renamed
	earlier map[lynq.NodeKey][]*inventory.Inventory
	// holding: no object leaves its node.
	holding bool
}

func newDecider(in *Input) *decider { return deciders([]*Input{in})[0] }

// deciders are the hubs of one run, each of which knows the others.
func deciders(hubs []*Input) []*decider {
	all := make([]*decider, len(hubs))
	for i, in := range hubs {
		all[i] = index(in)
	}
	for i, d := range all {
		d.beside = slices.Delete(slices.Clone(all), i, i+1)
	}
	for _, d := range all {
		d.judge()
	}
	return all
}

// index indexes an input.
func index(in *Input) *decider {
	d := &decider{
		in:          in,
		claims:      claim.Of(in.Nodes),
		inventories: make(map[lynq.NodeKey]*inventory.Inventory, len(in.Inventories)),
		applySets:   make(map[string]lynq.NodeKey, len(in.Inventories)),
		desired:     map[lynq.Ref]lynq.NodeKey{},
		nodes:       make(map[lynq.NodeKey]*plan.Node, len(in.Nodes)),
		unknown:     map[lynq.NodeKey]bool{},
		untouched:   map[lynq.NodeKey]error{},
		renamed:     map[lynq.NodeKey]*renamed{},
		earlier:     map[lynq.NodeKey][]*inventory.Inventory{},
	}
	for _, inv := range in.Inventories {
		k := inv.Node.Key()
		d.inventories[k] = inv
		d.applySets[inventory.ID(k.Namespace, inventory.Name(k.Name))] = k
	}
	for _, n := range in.Nodes {
		d.nodes[n.Key()] = n
		if n.Failed != nil {
			d.unknown[n.Key()] = true
		}
		for i := range n.Objects {
			d.desired[n.Objects[i].Ref] = n.Key()
		}
	}
	return d
}

// judge finds out which nodes stay, go or are left as they are, before any is planned.
func (d *decider) judge() {
	d.owned = hooking{d}.findOwned()
	d.misnamed = d.findMisnamed()
	d.findRenamed()
	d.judgeGrace()
	d.judgeUnknown()
	d.replaceDeleted()
	d.keepRefused()
}

// rules are what steps are decided by, whatever was observed.
func (d *decider) rules() *decider {
	rules, in := *d, *d.in
	in.Live, rules.in = nil, &in
	return &rules
}

// IncludesData tells whether a person said to delete what holds data.
func (d *decider) IncludesData() bool { return d.in.IncludeData }

// rulesOf are the rules that a plan was decided by, nil where it has none.
func rulesOf(p *plan.Plan) *decider {
	d, _ := p.Rules.(*decider)
	return d
}

func (d *decider) owner(k lynq.NodeKey) plan.Owner {
	return plan.NewOwner(k, d.in.Hub, d.inventories[k])
}

// node plans a node that is wanted.
func (d *decider) node(n *plan.Node) plan.NodePlan {
	inv := d.inventories[n.Key()]
	p := plan.NodePlan{
		NodeID: n.NodeID, Desired: n, Inventory: inv,
	}
	if inv != nil && !n.Is(inv) {
		p.Inventory = nil // it is not the node's to say anything in
	}
	if err := d.obstacle(n, inv); err != nil {
		failed := *n
		failed.Failed = err
		p.Desired = &failed
		return p
	}
	entries := entriesOf(inv)
	me := d.owner(n.Key())
	if p.Replacement = d.replacements[n.Key()]; p.Replacement != nil {
		me.UID = "" // what belongs to the inventory that goes gets a new owner
	}
	p.Strays = d.straysOf(me)
	for i := range n.Objects {
		o := &n.Objects[i]
		r := entries[o.Ref]
		if r == nil {
			r = d.completedBefore(n, o)
		}
		p.Steps = append(p.Steps, d.step(me, o, r, d.in.Live[o.Ref]))
		delete(entries, o.Ref)
	}
	freed(n, p.Steps)
	dropped := d.leave(me, inv, entries, reason.Removed)
	tellNotIncluded(n, dropped)
	p.Steps = append(append(p.Steps, dropped...), hooking{d}.leftovers(me, inv)...)
	tellLosses(p.Steps, n.Objects)
	return p
}

// tellNotIncluded says of the steps that drop an object whether the form still has it.
func tellNotIncluded(n *plan.Node, dropped []plan.Step) {
	for i := range dropped {
		if s := &dropped[i]; (s.Reason == reason.Removed || s.Reason == reason.Renamed) && slices.Contains(n.NotIncluded, s.Entry.ID) {
			s.Reason = reason.NotIncluded
		}
	}
}

// obstacle is why nothing of a node can be planned, nil for most.
func (d *decider) obstacle(n *plan.Node, inv *inventory.Inventory) error {
	switch {
	case n.Failed != nil:
		return n.Failed
	case d.in.Broken[n.Key()] != nil:
		return d.in.Broken[n.Key()]
	case inv == nil && d.in.Taken[n.Key()] != nil:
		return nameTaken(n, d.in.Taken[n.Key()])
	case inv == nil:
		return cmp.Or(d.misnamed.obstacle(n), d.untouched[n.Key()])
	case !n.Is(inv):
		return nameTaken(n, inv)
	}
	var stays error
	if r := d.replacements[n.Key()]; r != nil {
		stays = r.Stays
	}
	return cmp.Or(stays, d.misnamed.obstacle(n), d.untouched[n.Key()])
}

// replaceDeleted decides how the inventories are replaced that were deleted while their
// rows want them.
func (d *decider) replaceDeleted() {
	var referring map[types.UID][]*tracking.Live
	for _, n := range d.in.Nodes {
		inv := d.inventories[n.Key()]
		if inv == nil || !inv.Deleting {
			continue
		}
		if d.replacements == nil {
			d.replacements, referring = map[lynq.NodeKey]*plan.Replacement{}, d.in.observed().Referring()
		}
		me := d.owner(n.Key())
		d.replacements[n.Key()] = plan.Replace(inv, d.in.observed(), referring[me.UID], func(r *inventory.Entry) string { return d.excluded(me, r) })
	}
}

// broken plans the nodes that nothing wants and whose records cannot be read:
// it is not known what they own, so that they stay, and are reported.
func (d *decider) broken() []plan.NodePlan {
	var plans []plan.NodePlan
	for key, err := range d.in.Broken {
		if d.nodes[key] == nil && (d.in.Only == nil || d.in.Only[key.Name]) && d.in.planned(key) {
			id := lynq.NodeID{Hub: lynq.HubKey{Name: d.in.Hub.Name}, Namespace: key.Namespace, Name: key.Name}
			plans = append(plans, plan.NodePlan{NodeID: id, Desired: &plan.Node{NodeID: id, Failed: err}})
		}
	}
	slices.SortFunc(plans, func(a, b plan.NodePlan) int { return strings.Compare(a.String(), b.String()) })
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
//
// One that is kept for its grace period does not go yet.
func (d *decider) goes(inv *inventory.Inventory) bool {
	key := inv.Node.Key()
	return d.in.Delete[key] || d.gone(inv) && d.leaves[key] == nil
}

// gone tells whether this run may let the node of an inventory go, which no row wants.
func (d *decider) gone(inv *inventory.Inventory) bool {
	key := inv.Node.Key()
	return d.renamed[key] == nil && d.nodes[key] == nil && !d.misnamed.recorded[key] && d.within(inv) && (!inv.Deleting || inv.Finalizer)
}

// within tells whether this run may let the node of an inventory go.
func (d *decider) within(inv *inventory.Inventory) bool {
	return !d.in.Narrowed && d.counts(inv) && (d.in.Only == nil || d.in.Only[inv.Node.Name])
}

// counts tells whether an inventory is of the hub, and of a form of the run.
func (d *decider) counts(inv *inventory.Inventory) bool {
	return (inv.Node.Hub.Namespace == "" || inv.Node.Hub.Namespace == d.in.Hub.Namespace) &&
		slices.ContainsFunc(d.in.Forms, func(f lynq.FormKey) bool { return ofForm(inv, f) })
}

// ofForm tells whether an inventory is of a form.
func ofForm(inv *inventory.Inventory, f lynq.FormKey) bool {
	return f.Name == inv.Node.Form.Name && (inv.Node.Form.Namespace == "" || inv.Node.Form.Namespace == f.Namespace)
}

// leaving plans a node that is wanted no more.
func (d *decider) leaving(inv *inventory.Inventory, why reason.Reason) plan.NodePlan {
	p := plan.NodePlan{
		NodeID:    inv.Node,
		Inventory: inv, Cascade: d.in.Cascade, Deleted: why == reason.NodeDeleted,
	}
	me := d.owner(p.Key())
	p.Strays = d.straysOf(me)
	p.Steps = d.leave(me, inv, entriesOf(inv), why)
	row := d.claims.Node(inv)
	if row != nil && why == reason.NodeGone {
		wait(p.Steps, row)
		return p
	}
	if d.in.Cascade == plan.CascadeBackground && len(inv.DependForms) == 0 {
		collect(me, p.Steps)
	}
	before, after := hooking{d}.hooks(me, inv), hooking{d}.afterHooks(me, inv, why)
	blockAfter(before, after)
	p.Steps = slices.Concat(before, p.Steps, after)
	return p
}

// straysOf are the objects that refer to a node's inventory, and that no entry names.
func (d *decider) straysOf(me plan.Owner) []*tracking.Live {
	var strays []*tracking.Live
	for _, l := range d.in.observed().Strays {
		if me.Owns(l) {
			strays = append(strays, l)
		}
	}
	slices.SortFunc(strays, func(a, b *tracking.Live) int { return strings.Compare(a.String(), b.String()) })
	return strays
}

// wait has all that a node owns stay as it is until a row renders.
func wait(steps []plan.Step, row *plan.Node) {
	for i := range steps {
		steps[i].Action, steps[i].Reason, steps[i].Message = plan.ActionSkip, reason.RowUnknown, claim.HoldsUp(row)
	}
}

// collect leaves to the garbage collector what it deletes as we would: objects
// that have no other owner, none of which is to go before another, or before
// what contains it.
func collect(me plan.Owner, steps []plan.Step) {
	var deleted []*plan.Step
	for i := range steps {
		if steps[i].Action == plan.ActionDelete {
			deleted = append(deleted, &steps[i])
		}
	}
	for _, s := range deleted {
		if s.Entry.Order != deleted[0].Entry.Order || s.Entry.DeleteOrder != deleted[0].Entry.DeleteOrder || container.Is(s.Entry.Ref) {
			return
		}
	}
	for _, s := range deleted {
		if me.Collected(s.Live) {
			s.Action = plan.ActionCollect
		}
	}
}

// leave plans what becomes of the recorded objects that are wanted no more: wave by
// wave, and in each in the reverse of the order in which they were made.
func (d *decider) leave(me plan.Owner, inv *inventory.Inventory, entries map[lynq.Ref]*inventory.Entry, why reason.Reason) []plan.Step {
	if inv == nil {
		return nil
	}
	var steps []plan.Step
	for i := range inv.Entries {
		r := &inv.Entries[i]
		if entries[r.Ref] == r {
			steps = append(steps, d.leavingStep(me, r, d.in.Live[r.Ref], why))
		}
	}
	slices.SortStableFunc(steps, func(a, b plan.Step) int {
		return cmp.Or(a.Entry.DeleteOrder-b.Entry.DeleteOrder, b.Entry.Order-a.Entry.Order)
	})
	return steps
}

// leavingStep plans one object that its node wants no more. The policy that
// counts is the one that was recorded, on the object or in the inventory: where
// they differ, the one that keeps it.
func (d *decider) leavingStep(me plan.Owner, r *inventory.Entry, l *tracking.Live, why reason.Reason) plan.Step {
	q := &question{asker: askerNode, me: me, entry: r, live: l, why: why, adopted: r.Adopted, keeps: r.Deletion}
	if l != nil {
		q.keeps = r.Deletion.Or(l.DeletionPolicy)
	}
	a := d.gate(q)
	return plan.Step{Action: a.Action, Reason: a.Reason, Message: a.Message, To: a.To, Elsewhere: a.Elsewhere, Entry: r, Live: l, Adopted: r.Adopted}
}

// notSeen plans an object that was not seen: it is gone, or could not be looked at.
func (d *decider) notSeen(s *plan.Step) {
	why := d.in.GiveUp[s.Entry.Ref]
	switch {
	case why != nil:
		s.Action, s.Reason, s.Message = plan.ActionRelease, reason.GivenUp, "lynqctl keeps it and stops managing it: "+why.Error()
	case s.Entry.Phase == inventory.PhaseCompleted && !d.unseen(s):
		s.Action, s.Reason = plan.ActionRelease, reason.Completed
	case !d.unseen(s):
		s.Action, s.Reason = plan.ActionRelease, reason.AlreadyGone
	}
}

// givenUp tells whether a person said to leave an object behind.
func (d *decider) givenUp(ref lynq.Ref) bool {
	_, named := d.in.GiveUp[ref]
	return named
}

// releaseForeign tells whether an object that its node wants no more is not the node's
// to delete or to mark, and what the step is then: it is let go, or left alone.
func releaseForeign(me plan.Owner, s *plan.Step, l *tracking.Live) bool {
	switch {
	case l.Record:
		s.Action, s.Reason, s.Message = plan.ActionRelease, reason.TakenOver, neverDeleted
	case !me.Tracks(l):
		s.Action, s.Reason, s.Message = plan.ActionRelease, reason.TakenOver, "it no longer has this node's labels"
	case l.Unmanaged:
		leaveAlone(me, s, l)
	case l.TakenOver() != "":
		s.Action, s.Reason, s.Message = plan.ActionRelease, reason.TakenOver, "it is now of "+l.TakenOver()
	default:
		return false
	}
	return true
}

// step plans one object that its node wants.
func (d *decider) step(me plan.Owner, o *plan.Object, r *inventory.Entry, l *tracking.Live) plan.Step {
	if o.Policy.Hook() {
		return hooking{d}.hook(me, o, r, l)
	}
	s := d.wanted(me, o, r, l)
	s.Adopted = adopting{d}.adopted(me, &s)
	d.recreate(me, &s)
	return s
}

func (d *decider) wanted(me plan.Owner, o *plan.Object, r *inventory.Entry, l *tracking.Live) plan.Step {
	s := plan.Step{Object: o, Entry: r, Live: l}
	switch {
	case o.LeftOut:
		s.Action, s.Reason = plan.ActionKeep, reason.LeftOut
		return s
	case o.Exclusion != nil:
		s.Action, s.Reason, s.Message = plan.ActionSkip, reason.Excluded, excludedBy(o.Exclusion)
		return s
	case d.purged(me, &s):
		return s
	case l == nil:
		s.Action, s.Reason = plan.ActionCreate, reason.New
		if r != nil && r.UID != "" {
			s.Reason = reason.Vanished
		}
		return s
	case l.Record:
		s.Action, s.Reason, s.Message = plan.ActionBlock, reason.Foreign, neverTaken
		return s
	case l.Deleting:
		s.Action, s.Reason, s.Message = plan.ActionCreate, reason.Deleting, "it "+l.Ending+"; lynqctl creates it again when it is deleted"
		return s
	case l.Unmanaged:
		leaveAlone(me, &s, l)
		return s
	}
	if (adopting{d}).contested(me, &s) {
		return s
	}
	if (adopting{d}).settled(me, o, r, l) {
		s.Action, s.Reason = d.once(me, o, r, l)
	} else {
		s.Action, s.Reason = d.compare(me, o, r, l)
	}
	switch {
	case s.Action == plan.ActionSkip:
		s.Message = remade
	case s.Reason == reason.Moved:
		s.Message = d.movesFrom(l)
	}
	return s
}

// once plans an object that was created, and is left alone ever since: only its
// tracking may change.
func (d *decider) once(me plan.Owner, o *plan.Object, r *inventory.Entry, l *tracking.Live) (plan.Action, reason.Reason) {
	switch {
	case l.Orphaned:
		return plan.ActionTrack, reason.Orphan
	case adopting{d}.given(me, l) != nil:
		return plan.ActionTrack, reason.Moved
	case !me.Tracked(o, l) || !o.Annotated(l):
		return plan.ActionTrack, reason.Untracked
	case r == nil || r.UID != string(l.UID) || r.Digest == "" || r.ID != o.ID || r.Deletion != o.Policy.Deletion:
		return plan.ActionTrack, reason.Unconfirmed
	}
	return plan.ActionKeep, reason.CreatedOnce
}

// compare plans an object that is ours, or has no owner.
func (d *decider) compare(me plan.Owner, o *plan.Object, r *inventory.Entry, l *tracking.Live) (plan.Action, reason.Reason) {
	switch {
	case l.Orphaned && d.in.KeepContent:
		return plan.ActionTrack, reason.Orphan
	case l.Orphaned:
		return plan.ActionAdopt, reason.Orphan
	case d.in.KeepContent && me.Tracked(o, l):
		return plan.ActionKeep, reason.UpToDate
	case d.in.KeepContent && r != nil && r.UID != "" && r.UID != string(l.UID) && !me.Tracks(l):
		return plan.ActionSkip, reason.Replaced // a person's, in the place of the one that is recorded
	case d.in.KeepContent:
		return plan.ActionTrack, reason.Untracked
	case adopting{d}.given(me, l) != nil:
		return plan.ActionUpdate, reason.Moved
	case !me.Tracks(l) && (r == nil || r.UID != string(l.UID)):
		return plan.ActionAdopt, reason.Unowned
	case r == nil || r.Digest == "" || r.UID == "":
		return plan.ActionUpdate, reason.Unconfirmed
	case r.UID != string(l.UID):
		return plan.ActionUpdate, reason.Replaced
	case r.Digest != o.Digest:
		return plan.ActionUpdate, reason.Changed
	case !me.Tracked(o, l):
		return plan.ActionUpdate, reason.Untracked
	case plan.MayHaveDrifted(o, r, l):
		return plan.ActionUpdate, reason.Drifted
	case due(o, r, d.in.Now):
		return plan.ActionUpdate, reason.Due
	}
	return plan.ActionKeep, reason.UpToDate
}

// due tells whether an object is to be written again for the time that has passed since
// it was written, or since a time that is not known. A time that is yet to come is that of a
// clock that is wrong, or was: waiting for it might last for ever.
func due(o *plan.Object, r *inventory.Entry, now time.Time) bool {
	every := o.Policy.ReapplyInterval
	return every > 0 && (r.Written.After(now) || now.Sub(r.Written) >= every)
}

// What is said of records that a node wants, or has recorded as its objects.
const (
	neverTaken   = "it is a record of lynqctl or of the Lynq operator, and a node can't have it (choose another name)"
	neverDeleted = "it is a record of lynqctl or of the Lynq operator: lynqctl drops only the entry in this node's inventory"
)

// foreign names whose an object is, "" where it is ours or has no owner. A node that
// wants an object no more, and runs now, gives it away.
func (d *decider) foreign(me plan.Owner, l *tracking.Live) string {
	if who := l.TakenOver(); who != "" {
		return who
	}
	other := l.Labelled()
	beside := d.givenBeside(l) != nil
	if l.Node != "" && other != me.NodeKey && !me.Holds(l) && !d.givesAway(other, l.Ref) && !beside {
		return "node " + other.String()
	}
	if l.PartOf == "" || l.PartOf == me.PartOf || beside {
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
func (d *decider) givesAway(k lynq.NodeKey, ref lynq.Ref) bool {
	inv := d.inventories[k]
	if inv == nil || d.unknown[k] || d.desired[ref] == k || d.nodes[k] == nil && d.renamed[k] == nil && !d.goes(inv) {
		return false
	}
	return slices.ContainsFunc(inv.All(), func(r inventory.Entry) bool { return r.Ref == ref })
}

// Found puts objects into the input as they were found when the server was asked about
// them.
func (in *Input) Found(objects []*tracking.Live) {
	for _, l := range objects {
		in.Live[l.Ref] = l
	}
}

// See has a plan decided on what was observed.
func (in *Input) See(o *plan.Observed) {
	in.Live, in.Unknown, in.Misplaced, in.Strays = o.Live, o.Unknown, o.Misplaced, o.Strays
}

// observed is what the plan is decided on.
func (in *Input) observed() *plan.Observed {
	return &plan.Observed{Live: in.Live, Unknown: in.Unknown, Misplaced: in.Misplaced, Strays: in.Strays}
}
