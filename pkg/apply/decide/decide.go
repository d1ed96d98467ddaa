package decide

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// tellLosses adds to steps that delete data which desired object replaces it.
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

// Limits are the guards' limits, which users can change.
type Limits struct {
	AllowEmpty bool
	MaxDelete  limits.MaxDelete
	// MaxChange limits the kept nodes that may change, and nil means no limit.
	MaxChange *limits.MaxDelete
	// MaxRowChange limits those that change for no other reason than their rows. It ignores
	// plans of a few nodes, and nil means no limit.
	MaxRowChange *limits.MaxDelete
	// EmptyColumns may suddenly be empty.
	EmptyColumns []string
	// Window is the time over which MaxDelete counts, and 0 means this plan only.
	Window time.Duration
}

// Decide makes the plan of one hub. It is a pure function: the same input gives
// the same plan.
func Decide(in *Input, l Limits) *plan.Plan { return All([]*Input{in}, l)[0] }

// All makes the plans of the hubs in one run. Objects may move between these hubs.
func All(hubs []*Input, l Limits) []*plan.Plan {
	plans := make([]*plan.Plan, len(hubs))
	for i, d := range deciders(hubs) {
		plans[i] = d.decide(l)
	}
	return plans
}

func (d *decider) decide(l Limits) *plan.Plan {
	in := d.in
	p := &plan.Plan{Hub: in.Hub, Gone: in.Scope.Gone, Rules: d.rules(), Evidence: in.Desired.Evidence, Nodes: make([]plan.NodePlan, 0, len(in.Desired.Nodes))}
	for _, n := range in.Desired.Nodes {
		if in.Scope.Plans(n.Key()) {
			p.Nodes = append(p.Nodes, d.node(n))
		}
	}
	p.Whole = len(d.in.Recorded.Broken) == 0 && in.Scope.whole()
	d.planLeaving(p)
	for _, inv := range in.Recorded.Inventories {
		if !d.withoutRow(inv) {
			continue
		}
		if n, planned := d.undesired(inv); planned {
			p.Nodes = append(p.Nodes, n)
		} else {
			p.Whole = false
		}
	}
	p.Nodes = append(p.Nodes, d.broken()...)
	for i := range p.Nodes {
		p.Nodes[i].NamespaceDefaults = in.Desired.NamespaceDefaults
	}
	dependents := arrangeForms(p, in)
	p.Count()
	if l.Window > 0 {
		p.Losses = newGuards(d).losses().nodes
	}
	p.Refusals = append(newGuards(d).refusals(l), dependents...)
	p.Refusals = append(p.Refusals, newGuards(d).refuseChanges(p, l)...)
	p.Refusals = append(p.Refusals, d.refuseSuspended()...)
	tellContents(p)
	refuseContents(p)
	return p
}

// withoutRow reports whether the plan is about the node of an inventory, although no row
// renders it and no grace period keeps it.
func (d *decider) withoutRow(inv *inventory.Inventory) bool {
	key, elsewhere := inv.Node.Key(), inv.Node.Hub.Namespace != "" && inv.Node.Hub.Namespace != d.in.Hub.Namespace
	return d.nodes[key] == nil && d.leaves[key] == nil && !elsewhere && d.in.Scope.Plans(key)
}

// undesired plans a recorded node that no row renders. It reports false if the plan leaves
// the node alone, so that the plan isn't about the whole hub.
func (d *decider) undesired(inv *inventory.Inventory) (p plan.NodePlan, planned bool) {
	key := inv.Node.Key()
	switch {
	case d.suspended(key) != nil && d.renamed[key] == nil && !d.goes(inv):
		return p, false
	case d.untouched[key] != nil:
		return d.kept(inv, d.untouched[key]), true
	case d.renamed[key] != nil:
		return d.continued(inv, d.renamed[key])
	case !d.goes(inv):
		return p, false
	case d.in.Scope.Delete[key], inv.Deleting && d.claims.Node(inv) == nil: // the row may still exist
		return d.leaving(inv, plan.ReasonNodeDeleted), true
	}
	return d.leaving(inv, plan.ReasonNodeGone), true
}

// decider is an input with its indexes.
type decider struct {
	in *Input
	// beside are the other hubs of the run.
	beside      []*decider
	inventories map[lynq.NodeKey]*inventory.Inventory
	nodes       map[lynq.NodeKey]*plan.Node
	misnamed    misnamed
	// applySets returns the node of each ApplySet id. desired returns the node that renders
	// each object. Most plans need neither, and the indexes of many nodes are large.
	applySets func() map[string]lynq.NodeKey
	desired   func() map[lynq.Ref]lynq.NodeKey
	// names has the names of the objects that the server serves under several, by uid.
	names  map[types.UID][]lynq.Ref
	places *places
	// unknown are nodes with unknown needs, because they failed to render or lynqctl must
	// not change them. untouched are nodes that lynqctl must not change, with the reason.
	unknown   map[lynq.NodeKey]bool
	untouched map[lynq.NodeKey]error
	// held are the objects in the inventories of refused nodes.
	held map[lynq.Ref][]lynq.NodeKey
	// replacements describe how to replace deleted inventories of desired nodes.
	replacements map[lynq.NodeKey]*plan.Replacement
	claims       *claims
	// owned are the namespaces in which a node owns an object, for nodes with a hook in
	// another namespace.
	owned map[lynq.NodeKey]map[string]bool
	// leaves are the nodes in their grace period. ledger has their times from the hub
	// record.
	leaves map[lynq.NodeKey]*plan.Leaving
	ledger graceLedger
	// renamed are the nodes that continue as others, by the name in their inventory.
	// earlier has the inventories of these, by the node that continues them.
	renamed map[lynq.NodeKey]*renamed
	earlier map[lynq.NodeKey][]*inventory.Inventory
	// holding is set if no object may leave its node.
	holding bool
}

func newDecider(in *Input) *decider { return deciders([]*Input{in})[0] }

// deciders returns deciders for the hubs of one run. Each of them knows the others.
func deciders(hubs []*Input) []*decider {
	all := make([]*decider, len(hubs))
	names := namesOf(hubs)
	for i, in := range hubs {
		all[i] = index(in)
		all[i].names = names
	}
	for i, d := range all {
		d.beside = slices.Delete(slices.Clone(all), i, i+1)
	}
	for _, d := range all {
		d.judge()
	}
	return all
}

func index(in *Input) *decider {
	nodes, inventories := in.Desired.Nodes, in.Recorded.Inventories // rules outlive the input, see rules
	d := &decider{
		in:          in,
		claims:      claimsOf(in.Desired.Nodes),
		inventories: make(map[lynq.NodeKey]*inventory.Inventory, len(in.Recorded.Inventories)),
		applySets:   sync.OnceValue(func() map[string]lynq.NodeKey { return applySetsOf(inventories) }),
		desired:     sync.OnceValue(func() map[lynq.Ref]lynq.NodeKey { return renderedBy(nodes) }),
		nodes:       make(map[lynq.NodeKey]*plan.Node, len(in.Desired.Nodes)),
		unknown:     map[lynq.NodeKey]bool{},
		untouched:   map[lynq.NodeKey]error{},
		renamed:     map[lynq.NodeKey]*renamed{},
		earlier:     map[lynq.NodeKey][]*inventory.Inventory{},
		places:      &places{},
	}
	for _, inv := range in.Recorded.Inventories {
		d.inventories[inv.Node.Key()] = inv
	}
	for _, n := range in.Desired.Nodes {
		d.nodes[n.Key()] = n
		if n.Failed != nil {
			d.unknown[n.Key()] = true
		}
	}
	return d
}

func applySetsOf(inventories []*inventory.Inventory) map[string]lynq.NodeKey {
	nodes := make(map[string]lynq.NodeKey, len(inventories))
	for _, inv := range inventories {
		k := inv.Node.Key()
		nodes[inventory.ID(k.Namespace, inventory.Name(k.Name))] = k
	}
	return nodes
}

func renderedBy(nodes []*plan.Node) map[lynq.Ref]lynq.NodeKey {
	by := map[lynq.Ref]lynq.NodeKey{}
	for _, n := range nodes {
		for i := range n.Objects {
			by[n.Objects[i].Ref] = n.Key()
		}
	}
	return by
}

// judge finds the nodes that are kept, deleted, or left alone, before any is planned.
func (d *decider) judge() {
	d.owned = hooking{d}.findOwned()
	d.misnamed = d.findMisnamed()
	d.findRenamed()
	d.judgeSuspended()
	d.judgeGrace()
	d.judgeUnknown()
	d.replaceDeleted()
	d.keepRefused()
}

// rules returns the rules that decide steps, without observed objects.
func (d *decider) rules() *decider {
	rules, in := *d, *d.in
	in.Observed.Live, rules.in = nil, &in
	return &rules
}

// IncludesData reports whether the user passed the flag to delete data.
func (d *decider) IncludesData() bool { return d.in.Options.IncludeData }

// rulesOf returns the rules behind a plan, or nil.
func rulesOf(p *plan.Plan) *decider {
	d, _ := p.Rules.(*decider)
	return d
}

func (d *decider) owner(k lynq.NodeKey) plan.Owner {
	return plan.NewOwner(k, d.in.Hub, d.inventories[k])
}

// node plans a desired node.
func (d *decider) node(n *plan.Node) plan.NodePlan {
	inv := d.inventories[n.Key()]
	if why := d.suspended(n.Key()); why != nil {
		return leftAlone(n.NodeID, inv, why)
	}
	p := plan.NodePlan{
		NodeID: n.NodeID, Desired: n, Inventory: inv,
	}
	if inv != nil && !n.Is(inv) {
		p.Inventory = nil // it belongs to another node, so it doesn't count
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
		me.UID = "" // objects of the deleted inventory get a new owner
	}
	p.Unlisted = d.unlistedOf(me)
	p.Steps = make([]plan.Step, 0, len(n.Objects))
	for i := range n.Objects {
		o := &n.Objects[i]
		r := entries[o.Ref]
		if r == nil || r.UID == "" {
			r = cmp.Or(d.followed(entries, n, o), r)
		}
		if r == nil {
			r = d.completedBefore(n, o)
		}
		p.Steps = append(p.Steps, d.step(me, o, r, d.in.Observed.Live[o.Ref]))
		delete(entries, o.Ref)
	}
	freed(n, p.Steps)
	dropped := d.leave(me, inv, entries, plan.ReasonRemoved)
	tellNotIncluded(n, dropped)
	p.Steps = append(append(p.Steps, dropped...), hooking{d}.leftovers(me, inv)...)
	tellLosses(p.Steps, n.Objects)
	return p
}

// tellNotIncluded corrects the reason of dropped objects that the form still has.
func tellNotIncluded(n *plan.Node, dropped []plan.Step) {
	for i := range dropped {
		if s := &dropped[i]; (s.Reason == plan.ReasonRemoved || s.Reason == plan.ReasonRenamed) && lynq.Drops(n.NotIncluded, s.Entry.ID, s.Entry.Template) {
			s.Reason = plan.ReasonNotIncluded
		}
	}
}

// obstacle returns why lynqctl can't plan a node, and mostly nil.
func (d *decider) obstacle(n *plan.Node, inv *inventory.Inventory) error {
	switch {
	case n.Failed != nil:
		return n.Failed
	case d.in.Recorded.Broken[n.Key()] != nil:
		return d.in.Recorded.Broken[n.Key()]
	case inv == nil && d.in.Recorded.Taken[n.Key()] != nil:
		return nameTaken(n, d.in.Recorded.Taken[n.Key()])
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

// replaceDeleted decides how to replace deleted inventories of desired nodes.
func (d *decider) replaceDeleted() {
	var referring map[types.UID][]*tracking.Live
	for _, n := range d.in.Desired.Nodes {
		inv := d.inventories[n.Key()]
		if inv == nil || !inv.Deleting {
			continue
		}
		if d.replacements == nil {
			d.replacements, referring = map[lynq.NodeKey]*plan.Replacement{}, d.in.Observed.Referring()
		}
		me := d.owner(n.Key())
		d.replacements[n.Key()] = plan.Replace(inv, &d.in.Observed, referring[me.UID], func(r *inventory.Entry) string { return d.excluded(me, r) })
	}
}

// broken plans the nodes without a row and with an unreadable inventory. Their objects
// aren't known, so lynqctl keeps and reports them.
func (d *decider) broken() []plan.NodePlan {
	var plans []plan.NodePlan
	for key, err := range d.in.Recorded.Broken {
		if d.nodes[key] == nil && d.in.Scope.Names(key.Name) && d.in.Scope.Plans(key) {
			id := lynq.NodeID{Hub: lynq.HubKey{Name: d.in.Hub.Name}, Namespace: key.Namespace, Name: key.Name}
			plans = append(plans, plan.NodePlan{NodeID: id, Desired: &plan.Node{NodeID: id, Failed: err}})
		}
	}
	slices.SortFunc(plans, func(a, b plan.NodePlan) int { return strings.Compare(a.String(), b.String()) })
	return plans
}

// entriesOf returns the entries of an inventory, which may be nil.
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

// goes reports whether lynqctl deletes the node of an inventory, because it has no row or
// the user named it. If the inventory is being deleted without our finalizer, somebody
// cleaned it up before, or lynqctl may not (seed: finalizers, the four states).
//
// lynqctl doesn't delete a node in its grace period yet.
func (d *decider) goes(inv *inventory.Inventory) bool {
	key := inv.Node.Key()
	return d.in.Scope.Delete[key] || d.gone(inv) && d.leaves[key] == nil
}

// gone reports whether no row renders the node of an inventory, and this run may delete it.
func (d *decider) gone(inv *inventory.Inventory) bool {
	key := inv.Node.Key()
	return d.renamed[key] == nil && d.nodes[key] == nil && !d.misnamed.recorded[key] && d.in.within(inv) && (!inv.Deleting || inv.Finalizer)
}

// within reports whether this run may delete the node of an inventory.
func (in *Input) within(inv *inventory.Inventory) bool {
	return !in.Scope.Narrowed && in.counts(inv) && in.Scope.Names(inv.Node.Name)
}

// counts reports whether an inventory belongs to the hub and to a form of the run.
func (in *Input) counts(inv *inventory.Inventory) bool {
	return (inv.Node.Hub.Namespace == "" || inv.Node.Hub.Namespace == in.Hub.Namespace) &&
		slices.ContainsFunc(in.Desired.Forms, func(f lynq.FormKey) bool { return ofForm(inv, f) })
}

// ofForm reports whether an inventory belongs to a form.
func ofForm(inv *inventory.Inventory, f lynq.FormKey) bool {
	return f.Name == inv.Node.Form.Name && (inv.Node.Form.Namespace == "" || inv.Node.Form.Namespace == f.Namespace)
}

// leaving plans the deletion of a node.
func (d *decider) leaving(inv *inventory.Inventory, why plan.Reason) plan.NodePlan {
	p := plan.NodePlan{
		NodeID:    inv.Node,
		Inventory: inv, Cascade: d.in.Options.Cascade, Deleted: why == plan.ReasonNodeDeleted,
	}
	me := d.owner(p.Key())
	p.Unlisted = d.unlistedOf(me)
	p.Steps = d.leave(me, inv, entriesOf(inv), why)
	row := d.claims.Node(inv)
	if row != nil && why == plan.ReasonNodeGone {
		wait(p.Steps, row)
		return p
	}
	if d.in.Options.Cascade == plan.CascadeBackground && len(inv.DependForms) == 0 {
		collect(me, p.Steps)
	}
	before, after := hooking{d}.hooks(me, inv), hooking{d}.afterHooks(me, inv, why)
	blockAfter(before, after)
	p.Steps = slices.Concat(before, p.Steps, after)
	return p
}

// unlistedOf returns the objects that refer to a node's inventory without an entry.
func (d *decider) unlistedOf(me plan.Owner) []plan.Unlisted {
	var unlisted []plan.Unlisted
	for _, l := range d.in.Observed.Unlisted {
		if me.Owns(l) {
			unlisted = append(unlisted, plan.Unlisted{Live: l, Excluded: d.excluded(me, &inventory.Entry{Ref: l.Ref})})
		}
	}
	slices.SortFunc(unlisted, func(a, b plan.Unlisted) int { return strings.Compare(a.String(), b.String()) })
	return unlisted
}

// wait keeps all objects of a node until a row renders.
func wait(steps []plan.Step, row *plan.Node) {
	for i := range steps {
		steps[i].Action, steps[i].Reason, steps[i].Message = plan.ActionSkip, plan.ReasonRowUnknown, holdsUp(row)
	}
}

// collect leaves objects to the garbage collector if that deletes them in the same way.
// They have no other owner, no order among each other, and none contains others.
func collect(me plan.Owner, steps []plan.Step) {
	var deleted []*plan.Step
	for i := range steps {
		if steps[i].Action == plan.ActionDelete {
			deleted = append(deleted, &steps[i])
		}
	}
	for _, s := range deleted {
		if s.Entry.Order != deleted[0].Entry.Order || s.Entry.DeleteOrder != deleted[0].Entry.DeleteOrder || tracking.IsContainer(s.Entry.Ref) {
			return
		}
	}
	for _, s := range deleted {
		if me.Collected(s.Live) {
			s.Action = plan.ActionCollect
		}
	}
}

// leave plans the recorded objects that are no longer desired. They are in the waves of
// deleteOrder, and within a wave in the reverse order of their creation.
func (d *decider) leave(me plan.Owner, inv *inventory.Inventory, entries map[lynq.Ref]*inventory.Entry, why plan.Reason) []plan.Step {
	if inv == nil {
		return nil
	}
	var steps []plan.Step
	for i := range inv.Entries {
		r := &inv.Entries[i]
		if entries[r.Ref] == r {
			steps = append(steps, d.leavingStep(me, r, d.in.Observed.Live[r.Ref], why))
		}
	}
	slices.SortStableFunc(steps, func(a, b plan.Step) int {
		return cmp.Or(a.Entry.DeleteOrder-b.Entry.DeleteOrder, b.Entry.Order-a.Entry.Order)
	})
	return steps
}

// leavingStep plans one object that its node no longer needs. The recorded policy decides,
// from the object or the inventory. If they differ, the one that keeps the object decides.
func (d *decider) leavingStep(me plan.Owner, r *inventory.Entry, l *tracking.Live, why plan.Reason) plan.Step {
	q := &question{asker: askerNode, me: me, entry: r, live: l, why: why, adopted: r.Adopted, keeps: r.Deletion}
	if l != nil {
		r = d.counted(me, r, l)
		q.entry, q.keeps = r, r.Deletion.Or(l.DeletionPolicy)
	}
	a := d.gate(q)
	return plan.Step{Action: a.Action, Reason: a.Reason, Message: a.Message, To: a.To, Elsewhere: a.Elsewhere, Entry: r, Live: l, Adopted: r.Adopted}
}

// notSeen plans an object that this run didn't read. It doesn't exist, or lynqctl couldn't
// read it.
func (in *Input) notSeen(s *plan.Step) {
	why := in.Options.GiveUp[s.Entry.Ref]
	switch {
	case why != nil:
		s.Action, s.Reason, s.Message = plan.ActionRelease, plan.ReasonGivenUp, "lynqctl keeps it and stops managing it: "+why.Error()
	case s.Entry.Phase == inventory.PhaseCompleted && !in.unseen(s):
		s.Action, s.Reason = plan.ActionRelease, plan.ReasonCompleted
	case !in.unseen(s):
		s.Action, s.Reason = plan.ActionRelease, plan.ReasonAlreadyGone
	}
}

// givenUp reports whether the user asked to leave an object behind.
func (in *Input) givenUp(ref lynq.Ref) bool {
	_, named := in.Options.GiveUp[ref]
	return named
}

// releaseForeign reports whether the node may neither delete nor mark an object that it no
// longer needs. The step then releases the object, or leaves it alone.
func releaseForeign(me plan.Owner, s *plan.Step, l *tracking.Live) bool {
	switch {
	case l.Record:
		s.Action, s.Reason, s.Message = plan.ActionRelease, plan.ReasonTakenOver, neverDeleted
	case !me.Tracks(l):
		s.Action, s.Reason, s.Message = plan.ActionRelease, plan.ReasonTakenOver, "it no longer has this node's labels"
	case l.Unmanaged:
		leaveAlone(me, s, l)
	case l.TakenOver() != "":
		s.Action, s.Reason, s.Message = plan.ActionRelease, plan.ReasonTakenOver, "it is now of "+l.TakenOver()
	default:
		return false
	}
	return true
}

// step plans one desired object.
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
		s.Action, s.Reason = plan.ActionKeep, plan.ReasonLeftOut
		return s
	case o.Exclusion != nil:
		s.Action, s.Reason, s.Message = plan.ActionSkip, plan.ReasonExcluded, excludedBy(o.Exclusion)
		return s
	case d.purged(me, &s):
		return s
	case o.Ended(r) && (l == nil || l.Deleting && r.UID == string(l.UID)):
		s.Action, s.Reason = plan.ActionKeep, plan.ReasonCompleted
		return s
	case l == nil:
		s.Action, s.Reason = plan.ActionCreate, plan.ReasonNew
		if r != nil && r.UID != "" {
			s.Reason = plan.ReasonVanished
		}
		return s
	case l.Record:
		s.Action, s.Reason, s.Message = plan.ActionBlock, plan.ReasonForeign, neverTaken
		return s
	case d.renderedTwice(me, o, l) != "":
		s.Action, s.Reason, s.Message = plan.ActionBlock, plan.ReasonForeign, d.renderedTwice(me, o, l)
		return s
	case l.Deleting:
		s.Action, s.Reason, s.Message = plan.ActionCreate, plan.ReasonDeleting, "it "+l.Rare().Ending+"; lynqctl creates it again when it is deleted"
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
	case s.Reason == plan.ReasonMoved:
		s.Message = d.movesFrom(l)
	case l.Retired && s.Action == plan.ActionUpdate:
		s.Message = "the server no longer serves " + o.Kind + " in " + o.APIVersion + " (change apiVersion in the form)"
	case s.Action == plan.ActionUpdate && s.Reason == plan.ReasonUntracked && me.Tracked(o, l):
		s.Message = unmarked(l)
	}
	return s
}

// unmarked says why an object is written whose entry says that it is up to date.
func unmarked(l *tracking.Live) string {
	if l.Mark == "" {
		return "it lacks " + wellknown.AnnotationDigest + ", which earlier versions of lynqctl didn't write"
	}
	return wellknown.AnnotationDigest + " shows that it isn't the version in the inventory"
}

// once plans an object that lynqctl created once. Only its tracking may change.
func (d *decider) once(me plan.Owner, o *plan.Object, r *inventory.Entry, l *tracking.Live) (plan.Action, plan.Reason) {
	switch {
	case l.Orphaned:
		return plan.ActionTrack, plan.ReasonOrphan
	case adopting{d}.given(me, l) != nil:
		return plan.ActionTrack, plan.ReasonMoved
	case !me.Tracked(o, l) || !o.Annotated(l):
		return plan.ActionTrack, plan.ReasonUntracked
	case r == nil || r.UID != string(l.UID) || r.Digest == "" || r.ID != o.ID || r.Deletion != o.Policy.Deletion:
		return plan.ActionTrack, plan.ReasonUnconfirmed
	}
	return plan.ActionKeep, plan.ReasonCreatedOnce
}

// compare plans an object that belongs to the node or has no owner.
func (d *decider) compare(me plan.Owner, o *plan.Object, r *inventory.Entry, l *tracking.Live) (plan.Action, plan.Reason) {
	switch {
	case l.Orphaned && d.in.Options.KeepContent:
		return plan.ActionTrack, plan.ReasonOrphan
	case l.Orphaned:
		return plan.ActionAdopt, plan.ReasonOrphan
	case d.in.Options.KeepContent && me.Tracked(o, l):
		return plan.ActionKeep, plan.ReasonUpToDate
	case d.in.Options.KeepContent && r != nil && r.UID != "" && r.UID != string(l.UID) && !me.Tracks(l):
		return plan.ActionSkip, plan.ReasonReplaced // somebody else created it in place of the recorded object
	case d.in.Options.KeepContent:
		return plan.ActionTrack, plan.ReasonUntracked
	case adopting{d}.given(me, l) != nil:
		return plan.ActionUpdate, plan.ReasonMoved
	case !me.Tracks(l) && (r == nil || r.UID != string(l.UID)):
		return plan.ActionAdopt, plan.ReasonUnowned
	case r == nil || r.Digest == "" || r.UID == "":
		return plan.ActionUpdate, plan.ReasonUnconfirmed
	case r.UID != string(l.UID):
		return plan.ActionUpdate, plan.ReasonReplaced
	case r.Digest != o.Digest:
		return plan.ActionUpdate, plan.ReasonChanged
	case !me.Tracked(o, l), !o.Marked(l): // the entry alone never says that nothing changed
		return plan.ActionUpdate, plan.ReasonUntracked
	case plan.MayHaveDrifted(o, r, l):
		return plan.ActionUpdate, plan.ReasonDrifted
	case due(o, r, d.in.Now):
		return plan.ActionUpdate, plan.ReasonDue
	}
	return plan.ActionKeep, plan.ReasonUpToDate
}

// due reports whether the reapplyInterval has passed since an object's last write. A time
// in the future comes from a wrong clock, so the object counts as due. Otherwise it might
// wait forever.
func due(o *plan.Object, r *inventory.Entry, now time.Time) bool {
	every := o.Policy.ReapplyInterval
	return every > 0 && (r.Written.After(now) || now.Sub(r.Written) >= every)
}

// These messages are about records that a node renders, or lists as its objects.
const (
	neverTaken   = "it is a record of lynqctl or of the Lynq operator, and a node can't have it (choose another name)"
	neverDeleted = "it is a record of lynqctl or of the Lynq operator: lynqctl drops only the entry in this node's inventory"
)

// foreign returns the owner of an object, or "" if it belongs to the node or has no owner.
// A node of this run that no longer needs an object gives it away.
func (d *decider) foreign(me plan.Owner, l *tracking.Live) string {
	if who := l.TakenOver(); who != "" {
		return who
	}
	other := l.Labelled()
	beside := d.givenBeside(l) != nil
	if hub := me.OtherHub(l); hub != "" && !beside {
		return "hub " + hub
	}
	if l.Node != "" && other != me.NodeKey && !me.Holds(l) && !d.givesAway(other, l) && !beside {
		return "node " + other.String()
	}
	if l.PartOf == "" || l.PartOf == me.PartOf || beside {
		return ""
	}
	k, known := d.applySets()[l.PartOf]
	switch {
	case !known:
		return "ApplySet " + l.PartOf
	case d.givesAway(k, l):
		return ""
	}
	return "node " + k.String()
}

// givesAway reports whether another node of the plan lists an object that it no longer
// needs.
func (d *decider) givesAway(k lynq.NodeKey, l *tracking.Live) bool {
	inv := d.inventories[k]
	if inv == nil || d.unknown[k] || d.nodes[k] == nil && d.renamed[k] == nil && !d.goes(inv) {
		return false
	}
	names := append([]lynq.Ref{l.Ref}, d.otherNames(l.Ref, l)...)
	return !slices.ContainsFunc(names, func(ref lynq.Ref) bool { return d.desired()[ref] == k }) &&
		slices.ContainsFunc(inv.All(), func(r inventory.Entry) bool { return slices.Contains(names, r.Ref) })
}
