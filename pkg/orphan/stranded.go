package orphan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// strand adds stranded objects. It reads inventories after objects, and checks each
// candidate again. Otherwise an apply under way would cause false results. It records
// objects before it creates them, and drops entries after it deleted them.
func (s *search) strand(ctx context.Context, tracked []seen, found *Found) error {
	b, err := s.readRecords(ctx, found)
	if err != nil || b == nil {
		return err
	}
	for _, o := range found.Orphans {
		b.uids[o.UID] = true // already found as an orphan
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
	gone, err := s.gone(ctx, b.unseen(tracked, s.query.namespaces()))
	found.Orphans = append(found.Orphans, gone...)
	return err
}

// readRecords reads the inventories. If the user may not list all namespaces, it reads
// those of the query's namespace. It returns nil and notes the failure if it may read
// none.
func (s *search) readRecords(ctx context.Context, found *Found) (*recordSet, error) {
	namespace, only := "", s.query.Within
	inventories, err := s.query.Stranded.AllNodes(ctx, "")
	if apierrors.IsForbidden(err) {
		s.unreadable.add(Unreadable{Verb: verbRecord, Err: err})
		if namespace = s.query.Namespace; namespace == "" {
			return nil, nil
		}
		if inventories, err = s.query.Stranded.AllNodes(ctx, namespace); apierrors.IsForbidden(err) {
			return nil, nil
		}
		only = []string{namespace}
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
	var ignored inventory.Ignored
	inventories, found.Broken, ignored = counting.Split(inventories, found.Broken)
	b := newRecordSet(inventories, found.Broken, only)
	for _, key := range ignored.Nodes() {
		b.broken[inventory.ID(key.Namespace, inventory.Name(key.Name))] = true
	}
	found.Ignored = s.asked(ignored)
	return b, nil
}

// counting says which inventories count. If hub records can't be read, all count.
func (s *search) counting(ctx context.Context, inventories []*inventory.Inventory, broken []*inventory.UnreadableError, namespace string) (inventory.Counting, error) {
	if len(inventory.Away(inventories, broken)) == 0 {
		return nil, nil
	}
	hubs, err := s.query.Stranded.Hubs(ctx, namespace)
	if torn := (*inventory.BrokenError)(nil); err != nil && !errors.As(err, &torn) && !apierrors.IsForbidden(err) {
		return nil, err
	}
	return inventory.NewCounting(hubs), nil
}

// asked keeps the inventories of the hubs that the query names.
func (s *search) asked(ignored inventory.Ignored) inventory.Ignored {
	ignored.Inventories = slices.DeleteFunc(ignored.Inventories, func(inv *inventory.Inventory) bool { return !within(s.query.Hubs, inv.Node.Hub.Name) })
	ignored.Broken = slices.DeleteFunc(ignored.Broken, func(b *inventory.UnreadableError) bool { return !within(s.query.Hubs, b.Node.Hub.Name) })
	return ignored
}

// recordSet indexes inventories.
type recordSet struct {
	inventories []*inventory.Inventory
	// only has the namespaces in which Find read inventories. It is empty if Find read all.
	only []string
	// refs and uids identify the objects that inventories list.
	refs map[lynq.Ref]bool
	uids map[types.UID]bool
	// nodes maps ApplySet ids to nodes. broken has the ids of inventories that can't be
	// read or don't count.
	nodes  map[string]lynq.NodeKey
	broken map[string]bool
}

func newRecordSet(inventories []*inventory.Inventory, broken []*inventory.UnreadableError, only []string) *recordSet {
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

// unrecorded returns the tracked objects that no inventory lists.
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

// nodeOf finds the node of a tracked object. It also reports whether lynqctl tracks the
// object at all. Another tool may apply the output of render in its own ApplySet, with the
// same labels. The node is zero if nothing names it.
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
	// lynqctl writes every object that it tracks.
	return lynq.NodeKey{}, l.Node == "" && (l.Fields != "" || l.Updated)
}

// unknown reports whether the entries of a node's inventory are unknown.
func (b *recordSet) unknown(node lynq.NodeKey, partOf string) bool {
	return b.broken[partOf] || b.broken[inventory.ID(node.Namespace, inventory.Name(node.Name))] ||
		len(b.only) > 0 && !slices.Contains(b.only, node.Namespace)
}

// unseen returns the entries whose objects existed in the namespaces, "" for all, and are
// not among the tracked ones.
func (b *recordSet) unseen(tracked []seen, namespaces []string) []Orphan {
	there := make(map[lynq.Ref]bool, len(tracked))
	for i := range tracked {
		there[tracked[i].live.Ref] = true
	}
	var unseen []Orphan
	for _, inv := range b.inventories {
		for i := range inv.Entries {
			r := &inv.Entries[i]
			if r.UID == "" || there[r.Ref] || namespaces[0] != "" && !slices.Contains(namespaces, r.Namespace) {
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

// gone returns the unseen entries whose objects don't exist. An object that can't be read
// doesn't count as gone.
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

// served finds the API resource of an entry's object. Discovery succeeded before, so an
// error concerns only this kind.
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

// stillTracked reads an object again.
func (s *search) stillTracked(ctx context.Context, o *Orphan) (bool, error) {
	m, err := s.Metadata(ctx, o.Resource, o.Namespace, o.Name)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil && tolerable(err):
		return true, nil // the list showed it
	case err != nil:
		return false, fmt.Errorf("look again at %s: %w", o.Ref, err)
	}
	return m.UID == o.UID && m.Labels[wellknown.LabelPartOf] == o.Live.PartOf && m.Labels[wellknown.LabelHub] != "", nil
}
