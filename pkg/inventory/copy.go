package inventory

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// A ConfigMap whose deletion was asked for cannot be kept: a new one takes its
// place when it is gone. In between, a copy under another name keeps what it had
// recorded, so that a run that is killed then loses nothing.

const copyPrefix = wellknown.NodeCopyPrefix

// CopyName is the name of the copy of a node's inventory.
func CopyName(node string) string { return copyPrefix + node }

// EncodeCopy makes the copy of an inventory.
func EncodeCopy(inv *Inventory) (*corev1.ConfigMap, error) {
	cm, err := Encode(inv)
	if err != nil {
		return nil, err
	}
	cm.Name, cm.UID, cm.ResourceVersion, cm.Finalizers, cm.OwnerReferences = CopyName(inv.Node.Name), "", "", nil, nil
	cm.Labels[wellknown.LabelRecord] = wellknown.RecordCopy
	delete(cm.Labels, wellknown.LabelApplySetID) // there is one parent of an ApplySet
	return cm, nil
}

// DecodeNode reads an inventory or a copy of one.
func DecodeNode(cm *corev1.ConfigMap) (*Inventory, error) {
	node, copied := strings.CutPrefix(cm.Name, copyPrefix)
	if !copied || cm.Labels[wellknown.LabelRecord] != wellknown.RecordCopy {
		return Decode(cm)
	}
	original := cm.DeepCopy()
	original.Name = Name(node)
	inv, err := Decode(original)
	if err != nil {
		return nil, err
	}
	inv.Copy, inv.UID, inv.ResourceVersion, inv.Finalizer, inv.Deleting = inv.UID, "", "", true, false
	return inv, nil
}

// WithoutCopies sorts inventories by namespace and node, and leaves out copies of
// those that are there.
func WithoutCopies(inventories []*Inventory) []*Inventory {
	slices.SortFunc(inventories, func(a, b *Inventory) int {
		if order := strings.Compare(a.Node.String(), b.Node.String()); order != 0 {
			return order
		}
		return strings.Compare(a.Copy, b.Copy) // "", that of the inventory itself, first
	})
	kept := inventories[:0]
	for _, inv := range inventories {
		if last := len(kept) - 1; last >= 0 && inv.Copy != "" && kept[last].Node.Key() == inv.Node.Key() {
			kept[last].Copy = inv.Copy
			continue
		}
		kept = append(kept, inv)
	}
	return kept
}
