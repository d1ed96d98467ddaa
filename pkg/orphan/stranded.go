package orphan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/trust"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// strand adds what is stranded. Inventories are read after the objects, and what
// seems stranded is looked at once more: a run that is under way records objects
// before it makes them, and forgets them after they are gone.
func (s *search) strand(ctx context.Context, tracked []seen, found *Found) error {
	b, err := s.readRecords(ctx, found)
	if err != nil || b == nil {
		return err
	}
	for _, o := range found.Orphans {
		b.uids[o.UID] = true // told already
	}
	candidates := b.unrecorded(distinct(tracked))
	still := make([]bool, len(candidates))
	err = s.parallel(ctx, len(candidates), func(ctx context.Context, i int) error {
		var err error
		still[i], err = s.stillTracked(ctx, &candidates[i])
		return err
	})
	if err != nil {
		return err
	}
	for i := range candidates {
		if still[i] {
			found.Orphans = append(found.Orphans, candidates[i])
		}
	}
	if s.query.Selector != "" || !within(s.query.Reasons, ReasonGone) {
		return nil
	}
	gone, err := s.gone(ctx, b.unseen(tracked, s.query.Namespace))
	found.Orphans = append(found.Orphans, gone...)
	return err
}

// readRecords reads the inventories. Who may not list them everywhere gets those
// of the one namespace. Nil means that none may be read, which is noted.
func (s *search) readRecords(ctx context.Context, found *Found) (*recordSet, error) {
	namespace := ""
	inventories, err := s.query.Stranded.AllNodes(ctx, "")
	if apierrors.IsForbidden(err) {
		s.unreadable.add(Unreadable{Verb: verbRecord, Err: err})
		if namespace = s.query.Namespace; namespace == "" {
			return nil, nil
		}
		if inventories, err = s.query.Stranded.AllNodes(ctx, namespace); apierrors.IsForbidden(err) {
			return nil, nil
		}
	}
	var broken *inventory.BrokenError
	if errors.As(err, &broken) {
		found.Broken = broken.Inventories
	} else if err != nil {
		return nil, err
	}
	counting, err := s.counting(ctx, inventories, found.Broken, namespace)
	if err != nil {
		return nil, err
	}
	var ignored trust.Ignored
	inventories, found.Broken, ignored = counting.Split(inventories, found.Broken)
	b := newRecordSet(inventories, found.Broken, namespace)
	for _, key := range ignored.Nodes() {
		b.broken[inventory.ID(key.Namespace, inventory.Name(key.Name))] = true
	}
	found.Ignored = s.asked(ignored)
	return b, nil
}

// counting tells which inventories count. Where records of hubs may not be read all
// do.
func (s *search) counting(ctx context.Context, inventories []*inventory.Inventory, broken []*inventory.UnreadableError, namespace string) (trust.Counting, error) {
	if len(trust.Away(inventories, broken)) == 0 {
		return nil, nil
	}
	hubs, err := s.query.Stranded.Hubs(ctx, namespace)
	if torn := (*inventory.BrokenError)(nil); err != nil && !errors.As(err, &torn) && !apierrors.IsForbidden(err) {
		return nil, err
	}
	return trust.NewCounting(hubs), nil
}

// asked leaves those of the hubs that are asked for.
func (s *search) asked(ignored trust.Ignored) trust.Ignored {
	ignored.Inventories = slices.DeleteFunc(ignored.Inventories, func(inv *inventory.Inventory) bool { return !within(s.query.Hubs, inv.Node.Hub.Name) })
	ignored.Broken = slices.DeleteFunc(ignored.Broken, func(b *inventory.UnreadableError) bool { return !within(s.query.Hubs, b.Node.Hub.Name) })
	return ignored
}

// recordSet are what inventories say.
type recordSet struct {
	inventories []*inventory.Inventory
	// only is the one namespace whose inventories are known; "" for all.
	only string
	// What records name, by name and by uid.
	refs map[lynq.Ref]bool
	uids map[types.UID]bool
	// nodes are those of the inventories, by ApplySet id; broken has the ids of
	// those that cannot be read, or do not count.
	nodes  map[string]lynq.NodeKey
	broken map[string]bool
}

func newRecordSet(inventories []*inventory.Inventory, broken []*inventory.UnreadableError, only string) *recordSet {
	b := &recordSet{
		inventories: inventories, only: only,
		refs: map[lynq.Ref]bool{}, uids: map[types.UID]bool{},
		nodes: map[string]lynq.NodeKey{}, broken: map[string]bool{},
	}
	for _, inv := range inventories {
		b.nodes[inventory.ID(inv.Node.Namespace, inventory.Name(inv.Node.Name))] = inv.Node.Key()
		for _, r := range inv.All() {
			b.refs[r.Ref] = true
			if r.UID != "" {
				b.uids[types.UID(r.UID)] = true
			}
		}
	}
	for _, r := range broken {
		b.broken[inventory.ID(r.Node.Namespace, r.Name)] = true
	}
	return b
}

// unrecorded are those of tracked objects that no inventory names.
func (b *recordSet) unrecorded(tracked []seen) []Orphan {
	var stranded []Orphan
	for i := range tracked {
		s := &tracked[i]
		node, ours := b.nodeOf(s)
		if !ours || s.live.Record || b.refs[s.live.Ref] || b.uids[s.live.UID] || b.unknown(node, s.live.PartOf) {
			continue
		}
		stranded = append(stranded, s.described(ReasonStranded, originOf(s.live.Hub, node, s.live.ResourceID)))
	}
	return stranded
}

// nodeOf finds the node that a tracked object is of, and whether it is of one of
// ours at all: what render writes and another tool puts into an ApplySet of its
// own has the same labels. The node is zero where nothing names it.
func (b *recordSet) nodeOf(s *seen) (node lynq.NodeKey, ours bool) {
	l := &s.live
	if s.owner != "" {
		return lynq.NodeKey{Namespace: l.Namespace, Name: s.owner}, true
	}
	labelled := l.Labelled()
	if inventory.ID(labelled.Namespace, inventory.Name(labelled.Name)) == l.PartOf {
		return labelled, true
	}
	if known, ok := b.nodes[l.PartOf]; ok {
		return known, true
	}
	// We write whatever we track.
	return lynq.NodeKey{}, l.Node == "" && (l.Fields != "" || l.Updated)
}

// unknown tells whether it is unknown what a node's inventory says.
func (b *recordSet) unknown(node lynq.NodeKey, partOf string) bool {
	return b.broken[partOf] || b.broken[inventory.ID(node.Namespace, inventory.Name(node.Name))] ||
		b.only != "" && node.Namespace != b.only
}

// unseen are the records of objects that were there, in one namespace or, with
// "", in all, and are not among the tracked ones.
func (b *recordSet) unseen(tracked []seen, namespace string) []Orphan {
	there := make(map[lynq.Ref]bool, len(tracked))
	for i := range tracked {
		there[tracked[i].live.Ref] = true
	}
	var unseen []Orphan
	for _, inv := range b.inventories {
		for i := range inv.Entries {
			r := &inv.Entries[i]
			if r.UID == "" || there[r.Ref] || namespace != "" && r.Namespace != namespace {
				continue
			}
			_, version := lynq.SplitAPIVersion(r.APIVersion)
			unseen = append(unseen, Orphan{
				Ref: r.Ref, UID: types.UID(r.UID), Reason: ReasonGone,
				Resource: lynq.APIResource{Group: r.Group, Version: version, Kind: r.Kind, Namespaced: r.Namespace != ""},
				From:     originOf(inv.Node.Hub.Name, inv.Node.Key(), r.ID),
				Deletion: r.Deletion, Creation: r.Creation,
			})
		}
	}
	return unseen
}

var errOtherScope = errors.New("objects of the kind have namespaces and the recorded one has none, or the other way round")

// gone looks which of the objects that records name are not there. What cannot
// be read is not gone.
func (s *search) gone(ctx context.Context, unseen []Orphan) ([]Orphan, error) {
	missing := make([]bool, len(unseen))
	err := s.parallel(ctx, len(unseen), func(ctx context.Context, i int) error {
		o := &unseen[i]
		if s.unreadable.has(o.Group, o.Kind, verbList) || !s.served(ctx, o) {
			return nil
		}
		_, err := s.Metadata(ctx, o.Resource, o.Namespace, o.Name)
		if apierrors.IsNotFound(err) {
			missing[i] = true
			return nil
		}
		return s.unreadable.tolerate(&o.Resource, verbGet, err)
	})
	var gone []Orphan
	for i := range unseen {
		if missing[i] {
			gone = append(gone, unseen[i])
		}
	}
	return gone, err
}

// served finds out how the kind of a recorded object is served. The server has
// told of its kinds already, so an error is about this one.
func (s *search) served(ctx context.Context, o *Orphan) bool {
	r, err := s.Resource(ctx, o.Group, "", o.Kind)
	if err == nil && r.Namespaced != (o.Namespace != "") {
		err = errOtherScope
	}
	if err != nil {
		s.unreadable.add(Unreadable{Group: o.Group, Kind: o.Kind, Verb: verbGet, Err: err})
		return false
	}
	o.Resource = r
	return true
}

// stillTracked looks at an object again.
func (s *search) stillTracked(ctx context.Context, o *Orphan) (bool, error) {
	m, err := s.Metadata(ctx, o.Resource, o.Namespace, o.Name)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil && tolerable(err):
		return true, nil // so it was listed
	case err != nil:
		return false, fmt.Errorf("look again at %s: %w", o.Ref, err)
	}
	return m.UID == o.UID && m.Labels[wellknown.LabelPartOf] == o.Live.PartOf && m.Labels[wellknown.LabelHub] != "", nil
}
