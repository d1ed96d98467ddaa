package inventory

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Kubernetes can't undo the deletion of a ConfigMap. So lynqctl waits until the ConfigMap
// is gone and creates a new one. Until then, a copy with another name keeps the contents,
// so that a killed run loses nothing.

const copyPrefix = wellknown.NodeCopyPrefix

// CopyName returns the name of the copy of a node's inventory.
func CopyName(node string) string { return copyPrefix + node }

// EncodeCopy returns the copy of an inventory as a ConfigMap.
func EncodeCopy(inv *Inventory) (*corev1.ConfigMap, error) {
	cm, err := Encode(inv)
	if err != nil {
		return nil, err
	}
	cm.Name, cm.UID, cm.ResourceVersion, cm.Finalizers, cm.OwnerReferences = CopyName(inv.Node.Name), "", "", nil, nil
	cm.Labels[wellknown.LabelRecord] = wellknown.RecordCopy
	delete(cm.Labels, wellknown.LabelApplySetID) // an ApplySet can have only one parent
	return cm, nil
}

// DecodeNode reads an inventory or its copy.
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

// WithoutCopies sorts inventories by namespace and node. It drops a copy if its inventory
// exists.
func WithoutCopies(inventories []*Inventory) []*Inventory {
	slices.SortFunc(inventories, func(a, b *Inventory) int {
		if order := strings.Compare(a.Node.String(), b.Node.String()); order != 0 {
			return order
		}
		return strings.Compare(a.Copy, b.Copy) // the inventory itself has "", so it comes first
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
