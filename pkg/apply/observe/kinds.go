package observe

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// wantedKind is a kind, with the objects of the kind that matter.
type wantedKind struct {
	group, version, kind string
	refs                 map[lynq.Ref]bool
	entries              []*inventory.Entry // entries that name objects of the kind
	// replaced are the objects of inventories that somebody deleted. They may refer to
	// their inventory, and so may copies of them. The value is the inventory's ApplySet.
	replaced map[lynq.Ref]string
	// dropped is the same for inventories that may drop the object, because their node is
	// deleted or no longer needs it.
	dropped map[lynq.Ref]string
	// versions are the versions of objects that forms render in another version than the
	// kind's.
	versions map[lynq.Ref]string
}

// wantedKinds collects kinds from their objects. Each kind has one version, from the object
// that was added first.
type wantedKinds struct {
	index map[[2]string]int
	kinds []wantedKind
	each  int // about the number of objects of each kind
}

func (w *wantedKinds) add(ref lynq.Ref, apiVersion string) *wantedKind {
	key := [2]string{ref.Group, ref.Kind}
	i, known := w.index[key]
	if !known {
		_, version := lynq.SplitAPIVersion(apiVersion)
		i = len(w.kinds)
		w.index[key] = i
		w.kinds = append(w.kinds, wantedKind{group: ref.Group, version: version, kind: ref.Kind, refs: make(map[lynq.Ref]bool, w.each), replaced: map[lynq.Ref]string{}, dropped: map[lynq.Ref]string{}})
	}
	w.kinds[i].refs[ref] = true
	return &w.kinds[i]
}

// sorted returns all kinds, sorted.
func (w *wantedKinds) sorted() []wantedKind {
	slices.SortFunc(w.kinds, func(a, b wantedKind) int {
		return strings.Compare(a.group+"/"+a.kind, b.group+"/"+b.kind)
	})
	return w.kinds
}

// kindsOf returns the kinds of some objects. The values are apiVersions.
func kindsOf(objects map[lynq.Ref]string) []wantedKind {
	kinds := wantedKinds{index: map[[2]string]int{}}
	for ref, apiVersion := range objects {
		kinds.add(ref, apiVersion)
	}
	return kinds.sorted()
}

// kindsIn returns the kinds of all desired or recorded objects. It prefers the forms'
// versions.
func kindsIn(nodes []*plan.Node, inventories []*inventory.Inventory) []wantedKind {
	kinds := wantedKinds{index: map[[2]string]int{}, each: len(nodes)} // most nodes have one of each kind
	unlooked := plan.Unlooked(nodes, inventories)
	wanted := make(map[lynq.NodeKey]*plan.Node, len(nodes))
	for _, n := range nodes {
		wanted[n.Key()] = n
		for i := range n.Objects {
			if n.Objects[i].Exclusion == nil && !unlooked[n.Objects[i].Ref] {
				kinds.add(n.Objects[i].Ref, n.Objects[i].APIVersion).renders(n.Objects[i].Ref, n.Objects[i].APIVersion)
			}
		}
	}
	for _, inv := range inventories {
		entries := inv.All()
		for i := range entries {
			r := &entries[i]
			if unlooked[r.Ref] {
				continue
			}
			k := kinds.add(r.Ref, r.APIVersion)
			k.entries = append(k.entries, r)
			k.belongs(r, inv, keeps(wanted[inv.Node.Key()], i, r.Ref))
		}
	}
	return kinds.sorted()
}

// renders notes the version of an object that a form renders.
func (k *wantedKind) renders(ref lynq.Ref, apiVersion string) {
	if _, version := lynq.SplitAPIVersion(apiVersion); version != k.version {
		if k.versions == nil {
			k.versions = map[lynq.Ref]string{}
		}
		k.versions[ref] = version
	}
}

// belongs notes an object that may have an owner reference to an inventory. The garbage
// collector deletes copies of the object with the inventory. Only a run that reads the kind
// finds them, and no run reads a kind that the inventory doesn't list.
func (k *wantedKind) belongs(r *inventory.Entry, inv *inventory.Inventory, kept bool) {
	if r.Namespace != inv.Node.Namespace {
		return
	}
	var lose map[lynq.Ref]string
	switch {
	case inv.Deleting:
		lose = k.replaced
	case !kept && inv.UID != "": // no object refers to an inventory that is only planned
		lose = k.dropped
	default:
		return
	}
	lose[r.Ref] = inventory.ID(inv.Node.Namespace, inventory.Name(inv.Node.Name))
}

// keeps reports whether a node keeps an object that its inventory lists at a place. A nil
// node keeps none. A node that fails to render keeps all.
func keeps(n *plan.Node, at int, ref lynq.Ref) bool {
	if n == nil || n.Failed != nil {
		return n != nil
	}
	o := n.Object(ref, at)
	return o != nil && (o.Policy == nil || o.Policy.PurgeOrder == nil)
}
