package decide

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// A server may serve one object under several names. Events are in two groups, and an
// extension can show Namespaces as its own kind. The uid tells that they are one object.

// place is the part of a name that all names of an object have in common.
type place struct{ namespace, name string }

// namesOf returns the names of the objects that were read under several names, by uid.
func namesOf(hubs []*Input) map[types.UID][]lynq.Ref {
	first, several := map[types.UID]lynq.Ref{}, map[types.UID][]lynq.Ref{}
	note := func(objects map[lynq.Ref]*tracking.Live) {
		for ref, l := range objects {
			one, known := first[l.UID]
			switch {
			case l.UID == "" || one == ref:
			case !known:
				first[l.UID] = ref
			case several[l.UID] == nil:
				several[l.UID] = []lynq.Ref{one, ref}
			case !slices.Contains(several[l.UID], ref):
				several[l.UID] = append(several[l.UID], ref)
			}
		}
	}
	for _, in := range hubs {
		note(in.Observed.Live)
		if in.Beside != nil {
			note(in.Beside.Live)
		}
	}
	for _, refs := range several {
		slices.SortFunc(refs, func(a, b lynq.Ref) int { return strings.Compare(a.Full(), b.Full()) })
	}
	return several
}

// otherNames returns the other names of an object, as this run read it.
func (d *decider) otherNames(ref lynq.Ref, l *tracking.Live) []lynq.Ref {
	if l == nil {
		return nil
	}
	var others []lynq.Ref
	for _, other := range d.names[l.UID] {
		if other != ref {
			others = append(others, other)
		}
	}
	return others
}

// mayBeOne reports whether one object may have both names. Kubernetes' own groups serve an
// object under one kind only.
func mayBeOne(a, b lynq.Ref) bool {
	return a.GroupKind() != b.GroupKind() && a.Namespace == b.Namespace && a.Name == b.Name &&
		(a.Kind == b.Kind || !kinds.BuiltIn(a.Group) || !kinds.BuiltIn(b.Group))
}

// rendered is an object that a node of the files renders.
type rendered struct {
	lynq.Ref
	node lynq.NodeKey
	// read is set if this run read the object.
	read bool
}

// renderedAt returns the objects of all rows that may be one with an object.
func (d *decider) renderedAt(ref lynq.Ref) []rendered {
	var found []rendered
	for _, r := range d.places.of(d)[place{ref.Namespace, ref.Name}] {
		if mayBeOne(r.Ref, ref) {
			found = append(found, r)
		}
	}
	return found
}

// places indexes the objects that nodes of the run and of the other rows render. Only plans
// that delete need it. It is safe for concurrent use.
type places struct {
	once sync.Once
	at   map[place][]rendered
}

func (p *places) of(d *decider) map[place][]rendered {
	p.once.Do(func() { p.at = d.placesOf() })
	return p.at
}

func (d *decider) placesOf() map[place][]rendered {
	at, here := map[place][]rendered{}, map[lynq.Ref]bool{}
	add := func(r rendered) {
		key := place{r.Namespace, r.Name}
		at[key] = append(at[key], r)
	}
	for _, of := range append([]*decider{d}, d.beside...) {
		for _, n := range of.in.Desired.Nodes {
			for i := range n.Objects {
				o := &n.Objects[i]
				here[o.Ref] = true
				add(rendered{o.Ref, n.Key(), of.in.Scope.Plans(n.Key()) && !o.LeftAlone()})
			}
		}
	}
	if s := d.in.Desired.Elsewhere; s != nil {
		for ref, all := range s.renders {
			if !here[ref] {
				add(rendered{ref, all[0].node, false})
			}
		}
	}
	return at
}

// OtherNames returns the names to read before the plan's deletions: other rows render
// objects there, which may be the deleted ones, or the object may be a Namespace.
func OtherNames(p *plan.Plan) []lynq.Ref {
	d := rulesOf(p)
	if d == nil {
		return nil
	}
	found := map[lynq.Ref]bool{}
	for i := range p.Nodes {
		for j := range p.Nodes[i].Steps {
			s := &p.Nodes[i].Steps[j]
			if s.Live == nil || !s.Deletes() && !s.Purges() && !s.Recreates() {
				continue
			}
			for _, r := range d.renderedAt(s.Ref()) {
				if !r.read {
					found[r.Ref] = true
				}
			}
			if ns, may := tracking.NamespaceOf(s.Ref()); may && !slices.Contains(d.names[s.Live.UID], ns) {
				found[ns] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b lynq.Ref) int { return strings.Compare(a.Full(), b.Full()) })
}

// notOtherwiseRendered requires that no row renders the object under another name. The
// server's uid tells, because a name in another group can be the same object.
func notOtherwiseRendered(d *decider, q *question) *answer {
	for _, other := range d.otherNames(q.ref(), q.live) {
		if a := d.renderedAs(q, other); a != nil {
			return a
		}
	}
	if d.in.Beside == nil {
		return nil
	}
	for _, r := range d.renderedAt(q.ref()) {
		if err := d.in.Beside.Unknown[r.Ref]; err != nil && !r.read {
			return keep(plan.ReasonUnknown, fmt.Sprintf("lynqctl can't tell whether it is %s, which node %s renders: %v", r.Full(), r.node, err))
		}
	}
	if ns, may := tracking.NamespaceOf(q.ref()); may && d.in.Beside.Unknown[ns] != nil {
		return keep(plan.ReasonUnknown, fmt.Sprintf("lynqctl can't tell whether it is a Namespace: %v (let lynqctl get namespaces, then run again)", d.in.Beside.Unknown[ns]))
	}
	return nil
}

// renderedAs returns an answer if a row renders the object under another name.
func (d *decider) renderedAs(q *question, other lynq.Ref) *answer {
	of, node, is := d.renderer(other)
	if !is {
		return nil
	}
	if by := of.owner(node); q.asker == askerNode && node != q.me.NodeKey && by.Tracks(q.live) && !q.me.Tracks(q.live) {
		return release("node " + node.String() + " has it now, as " + other.Full())
	}
	return keep(plan.ReasonRendered, fmt.Sprintf("it is the same object as %s (uid %s), which node %s renders", other.Full(), q.live.UID, node))
}

// renderer returns the node of any row that renders an object, and the hub of the node.
func (d *decider) renderer(ref lynq.Ref) (*decider, lynq.NodeKey, bool) {
	if node, is := d.desired()[ref]; is {
		return d, node, true
	}
	if b := d.wantedBeside(ref); b != nil {
		return b, b.desired()[ref], true
	}
	if s := d.in.Desired.Elsewhere; s != nil && len(s.renders[ref]) > 0 {
		return d, s.renders[ref][0].node, true
	}
	return nil, lynq.NodeKey{}, false
}

// followed returns the entry of a desired object that its node has recorded under another
// name, and removes that name from the entries. It returns nil if there is none.
func (d *decider) followed(entries map[lynq.Ref]*inventory.Entry, n *plan.Node, o *plan.Object) *inventory.Entry {
	l := d.in.Observed.Live[o.Ref]
	if l == nil || o.LeftAlone() {
		return nil
	}
	var entry *inventory.Entry
	for _, other := range d.otherNames(o.Ref, l) {
		r := entries[other]
		if r == nil || r.UID != string(l.UID) || d.desired()[other] == n.Key() {
			continue
		}
		delete(entries, other)
		now := *r
		now.Ref, now.APIVersion, now.ID = o.Ref, o.APIVersion, o.ID
		entry = &now
	}
	return entry
}

// renderedTwice says that another resource of the node renders the same object under another name,
// or returns "". Each would write over the other one.
func (d *decider) renderedTwice(me plan.Owner, o *plan.Object, l *tracking.Live) string {
	for _, other := range d.otherNames(o.Ref, l) {
		if node, is := d.desired()[other]; is && node == me.NodeKey && other.Full() < o.Full() {
			return fmt.Sprintf("it is the same object as %s, which the node renders too (remove one of the two resources)", other.Full())
		}
	}
	return ""
}

// recordedAs returns the entry of an inventory with the uid of an object, under any name.
func (d *decider) recordedAs(inv *inventory.Inventory, l *tracking.Live) (inventory.Entry, bool) {
	for _, ref := range append([]lynq.Ref{l.Ref}, d.otherNames(l.Ref, l)...) {
		if r, found := inventory.Find(inv.Entries, ref); found && r.UID == string(l.UID) {
			return r, true
		}
	}
	return inventory.Entry{}, false
}

// holdsDataAs reports whether another name of an object shows that it has data.
func (d *decider) holdsDataAs(ref lynq.Ref, l *tracking.Live) bool {
	return slices.ContainsFunc(d.otherNames(ref, l), lynq.Ref.HoldsData)
}

// counted returns the entry of an object that leaves, as all of its names count. An entry
// of the node under another name may retain the object. A view of an object with data has
// data.
func (d *decider) counted(me plan.Owner, r *inventory.Entry, l *tracking.Live) *inventory.Entry {
	others := d.otherNames(r.Ref, l)
	if len(others) == 0 {
		return r
	}
	next := *r
	inv := d.inventories[me.NodeKey]
	for _, other := range others {
		next.Data = next.Data || other.HoldsData()
		if inv == nil {
			continue
		}
		if twin, found := inventory.Find(inv.Entries, other); found && twin.UID == r.UID {
			next.Deletion, next.Data = next.Deletion.Or(twin.Deletion), next.Data || twin.HoldsData()
		}
	}
	return &next
}

// Container returns the name by which the deletion of a step's object deletes its contents.
// It returns false if the object contains none.
func Container(p *plan.Plan, s *plan.Step) (lynq.Ref, bool) {
	if tracking.IsContainer(s.Ref()) {
		return s.Ref(), true
	}
	d := rulesOf(p)
	if d == nil {
		return lynq.Ref{}, false
	}
	for _, other := range d.otherNames(s.Ref(), s.Live) {
		if tracking.IsContainer(other) {
			return other, true
		}
	}
	return lynq.Ref{}, false
}
