package observe

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/container"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// wantedKind is a kind of object, and the objects of it that matter.
type wantedKind struct {
	group, version, kind string
	refs                 map[lynq.Ref]bool
	entries              []*inventory.Entry // that name objects of it
	// replaced are those that inventories list which were deleted, and that may belong
	// to them: copies of them may, too. The value is the inventory's ApplySet.
	replaced map[lynq.Ref]string
	// leaving are the same of inventories whose nodes leave, if nobody stops that.
	leaving map[lynq.Ref]string
	// defined: some record names a CustomResourceDefinition of the group.
	defined bool
}

// wantedKinds collects kinds by their objects, each kind in one version: that of the
// object which was added first.
type wantedKinds struct {
	index map[[2]string]int
	kinds []wantedKind
}

func (w *wantedKinds) add(ref lynq.Ref, apiVersion string) *wantedKind {
	key := [2]string{ref.Group, ref.Kind}
	i, known := w.index[key]
	if !known {
		_, version := lynq.SplitAPIVersion(apiVersion)
		i = len(w.kinds)
		w.index[key] = i
		w.kinds = append(w.kinds, wantedKind{group: ref.Group, version: version, kind: ref.Kind, refs: map[lynq.Ref]bool{}, replaced: map[lynq.Ref]string{}, leaving: map[lynq.Ref]string{}})
	}
	w.kinds[i].refs[ref] = true
	return &w.kinds[i]
}

// sorted is all kinds, in order.
func (w *wantedKinds) sorted() []wantedKind {
	slices.SortFunc(w.kinds, func(a, b wantedKind) int {
		return strings.Compare(a.group+"/"+a.kind, b.group+"/"+b.kind)
	})
	return w.kinds
}

// kindsOf are the kinds of some objects, by their apiVersions.
func kindsOf(objects map[lynq.Ref]string) []wantedKind {
	kinds := wantedKinds{index: map[[2]string]int{}}
	for ref, apiVersion := range objects {
		kinds.add(ref, apiVersion)
	}
	return kinds.sorted()
}

// kindsIn are the kinds of all objects that are wanted or recorded, in the version of
// the forms where they have it.
func kindsIn(nodes []*plan.Node, inventories []*inventory.Inventory) []wantedKind {
	kinds := wantedKinds{index: map[[2]string]int{}}
	unlooked := plan.Unlooked(nodes, inventories)
	wanted := make(map[lynq.NodeKey]bool, len(nodes))
	for _, n := range nodes {
		wanted[n.Key()] = true
		for i := range n.Objects {
			if n.Objects[i].Exclusion == nil && !unlooked[n.Objects[i].Ref] {
				kinds.add(n.Objects[i].Ref, n.Objects[i].APIVersion)
			}
		}
	}
	groups := map[string]bool{}
	for _, inv := range inventories {
		entries := inv.All()
		for i := range entries {
			r := &entries[i]
			if unlooked[r.Ref] {
				continue
			}
			k := kinds.add(r.Ref, r.APIVersion)
			k.entries = append(k.entries, r)
			k.belongs(r, inv, wanted)
			if r.Kind == kindDefinition && r.Group == groupDefinition {
				groups[container.Key(r.Ref).Group] = true
			}
		}
	}
	sorted := kinds.sorted()
	for i := range sorted {
		sorted[i].defined = groups[sorted[i].group]
	}
	return sorted
}

// belongs notes an object that may have an owner reference to an inventory. The garbage
// collector deletes the object with a deleted inventory, and with that of a node that leaves.
func (k *wantedKind) belongs(r *inventory.Entry, inv *inventory.Inventory, wanted map[lynq.NodeKey]bool) {
	if r.Namespace != inv.Node.Namespace {
		return
	}
	applySet := inventory.ID(inv.Node.Namespace, inventory.Name(inv.Node.Name))
	switch {
	case inv.Deleting:
		k.replaced[r.Ref] = applySet
	case !wanted[inv.Node.Key()]:
		k.leaving[r.Ref] = applySet
	}
}
