package gitops

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// A tree is decided like a cluster. The nodes in its index are inventories, the objects in
// its files are the observed objects, and the run's nodes are the desired ones. Package
// decide plans them with the same gate, grace periods, renames and guards. An object that
// decide keeps remains in the tree.

// Rows has the facts about a hub that a run knows beside the rendered nodes.
type Rows struct {
	Active int
	// Renames are the earlier names of the hub's forms and rows, or nil.
	Renames *lynq.Renames
	// Exclude and DependForms are settings of the hub's forms, under their earlier names, too.
	Exclude     map[lynq.FormKey]lynq.Exclusions
	DependForms map[lynq.FormKey][]string
}

// noNamespace stands for the namespace of hubs and forms without one. No namespace has this
// name, so that such a hub is never a hub of the same name in another namespace.
const noNamespace = "."

// hubOf returns the hub as package decide gets it.
func hubOf(h lynq.HubKey) lynq.HubKey {
	return lynq.HubKey{Namespace: cmp.Or(h.Namespace, noNamespace), Name: h.Name}
}

// formOf returns the form as package decide gets it. A form without a namespace is in its
// hub's.
func formOf(h lynq.HubKey, f lynq.FormKey) lynq.FormKey {
	return lynq.FormKey{Namespace: cmp.Or(f.Namespace, h.Namespace, noNamespace), Name: f.Name}
}

// Identify returns a node with its hub and form as the decisions about a tree know them.
func Identify(id lynq.NodeID) lynq.NodeID {
	id.Form, id.Hub = formOf(id.Hub, id.Form), hubOf(id.Hub)
	return id
}

// decisions say what becomes of the tree's nodes.
type decisions struct {
	// goes are the nodes without a row whose files leave the tree. Objects that stay are in
	// a node of their own.
	goes map[lynq.NodeKey]bool
	// leaving are the nodes in their grace period.
	leaving map[lynq.NodeKey]*Leaving
	// restarts are the nodes whose next grace period starts again, as in a hub record.
	restarts map[lynq.NodeKey]bool
	// missing are the files that somebody removed, of nodes that the run keeps.
	missing map[string]bool
	// unwritten are the files that a killed run listed and didn't write. They don't count.
	unwritten map[string]bool
	// absent are the files with excluded objects that somebody removed. The run doesn't write
	// these.
	absent map[string]bool
	// read are the files with objects that nodes no longer render.
	read     map[string]State
	refusals []plan.Refusal
}

// Decide decides which objects leave the tree. It adds the objects that stay although their
// nodes no longer render them to the run's nodes.
func (d *Dir) Decide(ctx context.Context, in *Input) error {
	in.Suspend()
	in.decided = &decisions{goes: map[lynq.NodeKey]bool{}, leaving: map[lynq.NodeKey]*Leaving{}, restarts: map[lynq.NodeKey]bool{}}
	unwritten, err := d.unwritten(ctx, in)
	if err != nil {
		return d.unreadable(err)
	}
	missing, err := d.missing(ctx, Kept(in))
	if err != nil {
		return d.unreadable(err)
	}
	nodes := nodesOfRun(in)
	absent, err := d.missing(ctx, entriesThat(in.Index, func(e *index.Entry) bool { return nodes[e.Node].excludes(e) }))
	if err != nil {
		return d.unreadable(err)
	}
	in.decided.missing, in.decided.unwritten, in.decided.absent = missing, unwritten, absent
	if !in.settled(nodes) {
		j := &decider{Input: in, nodes: nodes, lost: map[lostKey]*lostObject{}, refs: map[lynq.Ref]bool{}, held: map[lynq.Ref]bool{}, written: map[lynq.Ref]lynq.NodeKey{}}
		j.record()
		if err := d.readLost(ctx, j); err != nil {
			return d.unreadable(err)
		}
		j.decide()
	}
	in.markLeaving(nodes)
	for i := range in.Index.Entries { // files of nodes that leave are forgotten with their folders
		if e := &in.Index.Entries[i]; missing[e.Path] && in.leaves(e) {
			delete(missing, e.Path)
		}
	}
	in.Index = in.Index.Without(missing)
	return nil
}

// unwritten returns the files that a killed run listed and didn't write.
func (d *Dir) unwritten(ctx context.Context, in *Input) (map[string]bool, error) {
	if !in.Index.Unfinished {
		return nil, nil
	}
	return d.missing(ctx, entriesThat(in.Index, func(e *index.Entry) bool { return !e.Shared() }))
}

// settled reports whether nothing can leave the tree. Then there is nothing to decide.
func (in *Input) settled(nodes map[lynq.NodeKey]*Node) bool {
	if len(in.decided.missing) > 0 {
		return false
	}
	for i := range in.Hubs {
		if in.Rows[in.Hubs[i].HubKey].Active == 0 {
			return false
		}
	}
	for i := range in.Index.Entries {
		e := &in.Index.Entries[i]
		if e.Shared() || isApp(e.Path) {
			continue
		}
		n := nodes[e.Node]
		if n == nil && in.concerns(e) || n != nil && !n.stays() && in.drops(n, e) {
			return false
		}
	}
	return true
}

// concerns reports whether a run may change a file of a node without a row. It may, outside
// of the selected nodes, if a selected one is that node under another name.
func (in *Input) concerns(e *index.Entry) bool {
	r := in.Rows[e.Hub].Renames
	return in.Covers(e) || r != nil && len(r.Forms)+len(r.UIDs) > 0 && in.TakesPart(e)
}

// inherits reports whether a file of the node was written before the hub or the form had a
// namespace, or by a lynqctl that didn't record it.
func (n *Node) inherits(e *index.Entry) bool {
	hub, form := e.Hub, e.Form
	hub.Namespace, form.Namespace = cmp.Or(hub.Namespace, n.Hub.Namespace), cmp.Or(form.Namespace, n.Form.Namespace)
	return e.Node == n.Key() && hub == n.Hub && form == n.Form
}

// drops reports whether the node doesn't render an object of a file.
func (in *Input) drops(n *Node, e *index.Entry) bool {
	perResource := in.perResource()
	return slices.ContainsFunc(e.Objects, func(k index.ObjectKey) bool { return n.drops(k, perResource) })
}

// drops reports whether the node doesn't render a recorded object. Hooks don't count,
// because Argo CD deletes them after each sync. perResource is set if each resource has a
// Kustomization of its own: then that of an earlier id prunes the object.
func (n *Node) drops(k index.ObjectKey, perResource bool) bool {
	return k.ID != HookID && !slices.ContainsFunc(n.Objects, func(o Object) bool { return o.Ref == k.Ref && (o.ID == k.ID || !perResource) })
}

// perResource reports whether each resource of a node has an object that deploys it.
func (in *Input) perResource() bool { return in.Apps != nil && in.Apps.ResourceName("a", "a") != "" }

// decider decides about one run.
type decider struct {
	*Input
	nodes    map[lynq.NodeKey]*Node
	recorded []*recordedNode // in the order of the index
	byKey    map[lynq.NodeKey]*recordedNode
	lost     map[lostKey]*lostObject
	refs     map[lynq.Ref]bool // of the lost objects
	// written are the lost objects that a node of the run renders too.
	written map[lynq.Ref]lynq.NodeKey
	// held are the objects that a node keeps, and that its files have. After a merge, two
	// nodes may have one object.
	held map[lynq.Ref]bool
	// taken are nodes without a row of which others take objects, see decider.keepGrace.
	taken []lynq.NodeKey
}

// recordedNode is a node in the index.
type recordedNode struct {
	lynq.NodeID
	files   []*index.Entry // without those that deploy the tree
	now     *Node          // the node of the run, or nil
	covered bool           // the run may change it
	missing bool           // somebody removed some of its objects
}

// lostKey identifies an object that a node no longer renders.
type lostKey struct {
	node lynq.NodeKey
	ref  lynq.Ref
}

// lostObject is such an object, with its text in the tree.
type lostObject struct {
	index.ObjectKey
	text     []byte // nil if the tree doesn't have it
	deletion lynq.DeletionPolicy
	data     bool
	path     string
	// edited is set if others changed its file, so that lynqctl doesn't remove it. Then it
	// must remain in the build, too, or the target would delete it.
	edited bool
}

// record collects the nodes of the index, and the objects that they may lose.
func (j *decider) record() {
	j.byKey = map[lynq.NodeKey]*recordedNode{}
	for i := range j.Index.Entries {
		e := &j.Index.Entries[i]
		if e.Shared() || isApp(e.Path) || j.decided.unwritten[e.Path] {
			continue
		}
		r := j.byKey[e.Node]
		if r == nil {
			r = &recordedNode{NodeID: lynq.NodeID{Hub: e.Hub, Form: e.Form, Namespace: e.Node.Namespace, Name: e.Node.Name}, covered: j.concerns(e)}
			if n := j.nodes[e.Node]; n != nil && (n.Hub == e.Hub || n.inherits(e) || j.Force) {
				r.Hub, r.Form, r.now, r.covered = n.Hub, n.Form, n, true
			}
			j.byKey[e.Node], j.recorded = r, append(j.recorded, r)
		}
		r.files = append(r.files, e)
		if j.decided.missing[e.Path] {
			for _, k := range e.Objects {
				j.refs[k.Ref] = true
			}
		}
		j.lose(r, e)
	}
	for i := range j.Index.Entries {
		if e := &j.Index.Entries[i]; j.decided.unwritten[e.Path] && j.byKey[e.Node] == nil && j.nodes[e.Node] == nil && j.Covers(e) {
			j.decided.goes[e.Node] = true
		}
	}
	for _, n := range j.Nodes {
		for i := range n.Objects {
			if o := &n.Objects[i]; !n.stays() && !o.LeftOut && j.refs[o.Ref] && (!o.Excluded || j.has(j.byKey[n.Key()], o.Ref)) {
				j.written[o.Ref] = n.Key()
			}
		}
	}
	for _, r := range j.recorded {
		r.missing = j.loses(r)
	}
}

// has reports whether the node's files have an object. An excluded object of a node without
// it isn't written, so that a file of another node must keep it. A file that somebody removed
// has nothing, whatever the index says.
func (j *decider) has(r *recordedNode, ref lynq.Ref) bool {
	return r != nil && slices.ContainsFunc(r.files, func(e *index.Entry) bool {
		return !j.decided.absent[e.Path] && slices.ContainsFunc(e.Objects, func(k index.ObjectKey) bool { return k.Ref == ref })
	})
}

// excludes reports whether a file has an object that the node may not change. n may be nil.
func (n *Node) excludes(e *index.Entry) bool {
	return n != nil && slices.ContainsFunc(n.Objects, func(o Object) bool {
		return o.Excluded && slices.ContainsFunc(e.Objects, func(k index.ObjectKey) bool { return k.Ref == o.Ref })
	})
}

// loses reports whether somebody removed an object of a node that no other file has.
func (j *decider) loses(r *recordedNode) bool {
	return slices.ContainsFunc(r.files, func(e *index.Entry) bool {
		return j.decided.missing[e.Path] && slices.ContainsFunc(e.Objects, func(k index.ObjectKey) bool { return j.separate() || !j.moved(k.Ref) })
	})
}

// lose notes the objects of a file that the node no longer renders.
func (j *decider) lose(r *recordedNode, e *index.Entry) {
	if r.now == nil && (!r.covered || j.suspended[e.Node] != nil) || r.now != nil && r.now.stays() {
		return
	}
	perResource := j.perResource()
	for _, k := range e.Objects {
		if k.ID != HookID && (r.now == nil || r.now.drops(k, perResource)) {
			j.lost[lostKey{e.Node, k.Ref}] = &lostObject{ObjectKey: k, path: e.Path}
			j.refs[k.Ref] = true
		}
	}
}

// separate reports whether each node has an Application or Kustomization of its own. Then
// an object can't move from one to the other: the old one prunes it.
func (j *decider) separate() bool { return j.Apps != nil }

// decide asks package decide, and notes the answers.
func (j *decider) decide() {
	inputs, hubs := j.inputs()
	plans := decideAll(inputs, j.Limits)
	if j.Elsewhere != nil && plan.Leaves(plans) {
		known := j.Elsewhere()
		for _, in := range inputs {
			in.Desired.Elsewhere = known
		}
		plans = decideAll(inputs, j.Limits)
	}
	for i := range plans {
		for _, r := range plans[i].Refusals {
			r.Hub = hubs[i]
			j.decided.refusals = append(j.decided.refusals, r)
		}
	}
	if j.Selected {
		return // the run removes nothing
	}
	plans = j.keepGrace(inputs, plans)
	for i := range plans {
		j.leave(&plans[i])
		if i < len(j.Hubs) {
			j.restart(inputs[i], &plans[i])
		}
		for k := range plans[i].Nodes {
			j.follow(&plans[i].Nodes[k])
		}
	}
}

// keepGrace plans again without the deletion of nodes of which others take objects. They
// count at once, because their Applications prune these objects now. Their other objects
// have their grace period.
func (j *decider) keepGrace(inputs []*decide.Input, plans []plan.Plan) []plan.Plan {
	if len(j.taken) == 0 {
		return plans
	}
	for _, in := range inputs {
		for _, key := range j.taken {
			delete(in.Scope.Delete, key)
		}
	}
	return decideAll(inputs, j.Limits)
}

func decideAll(inputs []*decide.Input, l decide.Limits) []plan.Plan {
	plans := make([]plan.Plan, len(inputs))
	for i, p := range decide.All(inputs, l) {
		plans[i] = *p
	}
	return plans
}

// leave notes the nodes in their grace period. Objects that another node has now leave
// their files.
func (j *decider) leave(p *plan.Plan) {
	for i := range p.Leaving {
		l := &p.Leaving[i]
		r := j.byKey[l.Key()]
		j.decided.leaving[l.Key()] = &Leaving{NodeID: r.NodeID, Since: l.Since, Until: l.Until}
		var held []*lostObject
		for _, e := range r.files {
			for _, k := range e.Objects {
				if o := j.lost[lostKey{e.Node, k.Ref}]; o != nil && !j.moved(k.Ref) {
					held = append(held, o)
				}
			}
		}
		j.hold(r, held, l.Since, false)
	}
}

// restart notes the nodes of a hub whose time the next hub record would not have.
func (j *decider) restart(in *decide.Input, p *plan.Plan) {
	goesOn := map[string]bool{}
	for _, l := range p.LeavingRecord {
		for _, digest := range l.Nodes {
			goesOn[digest] = true
		}
	}
	for _, inv := range in.Recorded.Inventories {
		if key := inv.Node.Key(); !goesOn[inventory.NodeDigest(key.Namespace, key.Name)] {
			j.decided.restarts[key] = true
		}
	}
}

// moved reports whether a node of the run writes an object, so that no other file may have
// it.
func (j *decider) moved(ref lynq.Ref) bool { _, yes := j.written[ref]; return yes }

// follow notes what decide says about the objects of a node.
func (j *decider) follow(p *plan.NodePlan) {
	r := j.byKey[p.Key()]
	if r == nil || r.now != nil && r.now.stays() || p.Unmet != "" || r.missing && !r.covered {
		return
	}
	var held []*lostObject
	edits := false
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Object != nil || s.Entry == nil {
			continue
		}
		stays := s.Action == plan.ActionSkip || s.Action == plan.ActionKeep
		if o := j.lost[lostKey{p.Key(), s.Entry.Ref}]; o != nil && (stays || o.edited) && !j.moved(o.Ref) {
			edits = edits || !stays
			held = append(held, o)
		}
	}
	j.hold(r, held, time.Time{}, edits)
}

// hold keeps objects of a node in the tree, and lets its others go. edits is set if it keeps
// one only because others changed its file.
func (j *decider) hold(r *recordedNode, held []*lostObject, since time.Time, edits bool) {
	if !j.separate() { // kustomize couldn't build an object twice
		held = slices.DeleteFunc(held, func(o *lostObject) bool { return j.held[o.Ref] })
	}
	objects := 0
	for _, e := range r.files {
		objects += len(e.Objects)
	}
	n := r.now
	switch {
	case n == nil && len(held) == objects && objects > 0 && !edits:
		for _, o := range held {
			j.held[o.Ref] = j.held[o.Ref] || o.text != nil
		}
		return // its files stay as they are
	case n == nil:
		j.decided.goes[r.Key()] = true
		if len(held) == 0 {
			return
		}
		n = &Node{NodeID: r.NodeID, LeavingSince: since}
		j.Nodes = append(j.Nodes, n)
	}
	slices.SortFunc(held, func(a, b *lostObject) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.Full(), b.Full()))
	})
	held = slices.Compact(held) // two files have the object, for example after a merge
	for _, o := range held {
		if o.text == nil {
			j.decided.refusals = append(j.decided.refusals, plan.Refusal{
				Guard: GuardMissing, Path: o.path,
				What: "the tree must keep " + o.Full() + " of node " + r.Name + ", and the file doesn't have it",
				Fix:  "restore the file from Git",
			})
			continue
		}
		j.held[o.Ref], n.Row = true, "" // the object comes from an earlier row
		n.Objects = append(n.Objects, Object{ObjectKey: o.ObjectKey, Bytes: o.text, Edited: o.edited})
	}
}

// markLeaving notes in the index when rows were gone. A node that renders again loses the
// time.
func (in *Input) markLeaving(nodes map[lynq.NodeKey]*Node) {
	cloned := false
	for i := range in.Index.Entries {
		e := &in.Index.Entries[i]
		since := e.LeavingSince
		if l := in.decided.leaving[e.Node]; l != nil && !e.Shared() {
			since = l.Since
		} else if nodes[e.Node] != nil || in.decided.restarts[e.Node] && !e.Shared() {
			since = time.Time{}
		}
		if since.Equal(e.LeavingSince) {
			continue
		}
		if !cloned {
			next := *in.Index
			next.Entries, cloned = slices.Clone(next.Entries), true
			in.Index = &next
		}
		in.Index.Entries[i].LeavingSince = since
	}
}

// leavingSince returns the time in the index at which a node's row was gone, or zero. If
// the files differ, because Git merged two branches, the latest counts. A file without a
// time starts the period again.
func leavingSince(entries []*index.Entry) (since time.Time, whole bool) {
	whole = true
	for _, e := range entries {
		whole = whole && !e.LeavingSince.IsZero()
		if e.LeavingSince.After(since) {
			since = e.LeavingSince
		}
	}
	return since, whole
}

// inventoryOf returns a recorded node as an inventory, with the objects that it may lose.
func (j *decider) inventoryOf(r *recordedNode, uid string) *inventory.Inventory {
	inv := &inventory.Inventory{Node: Identify(r.NodeID), DependForms: j.Rows[r.Hub].DependForms[r.Form], Finalizer: true}
	inv.Node.UID = uid
	if s := j.suspended[r.Key()]; s != nil {
		text, _ := phrase.JSON(s) // package decide takes a text that it can't read for a suspension
		inv.Others = &inventory.Others{Annotations: map[string]string{wellknown.AnnotationSuspended: text}}
	}
	if r.now != nil {
		inv.Node.Form = formOf(r.Hub, r.now.Form)
	} else {
		inv.LeavingSince, _ = leavingSince(r.files)
	}
	emptied := r.now != nil && j.separate() && !slices.ContainsFunc(r.now.Objects, func(o Object) bool { return o.ID != HookID })
	for _, e := range r.files {
		for _, k := range e.Objects {
			if o := j.lost[lostKey{e.Node, k.Ref}]; o != nil && o.path == e.Path {
				policy := o.deletion
				if emptied { // its Application leaves with its last object
					policy = whole(policy)
				}
				inv.Entries = append(inv.Entries, inventory.Entry{Ref: k.Ref, ID: k.ID, UID: string(uidOf(k.Ref)), Lifecycle: lynq.Lifecycle{Deletion: policy, Data: o.data}})
			}
		}
	}
	return inv
}

// whole returns the policy of an object whose node leaves although its row exists.
func whole(p lynq.DeletionPolicy) lynq.DeletionPolicy {
	if p.Kept().WhenNodeGoes {
		return lynq.DeleteRetain
	}
	return lynq.DeleteDelete
}
