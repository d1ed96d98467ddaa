package inventory

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

const (
	// maxData limits the values of a ConfigMap. Labels and annotations have their own
	// limits.
	maxData = 1 << 20
	// statusRoom is reserved for the status, because a failed node has a longer status
	// than a new one.
	statusRoom = 32 << 10
	// recordRoom is reserved in each entry for results of the write. These are uid,
	// digest, generation, resource version and the hash of fields.
	recordRoom = 256
)

// TooLargeError says why lynqctl can't save an inventory.
type TooLargeError struct {
	Node lynq.NodeID
	// Objects is the number of entries. Size is their size in bytes after all writes.
	// Limit is the size that a ConfigMap allows.
	Objects, Size, Limit int
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the inventory of node %s is too large for a ConfigMap: its %d objects take %d KiB, and the limit is %d KiB. Split the form into several, each with its own nodes",
		e.Node, e.Objects, (e.Size+1023)>>10, e.Limit>>10)
}

// checkSize refuses an inventory that the API server would refuse, now or after the
// writes. lynqctl must not create objects that it can't record then.
func checkSize(inv *Inventory, cm *corev1.ConfigMap) error {
	size := max(statusRoom-len(cm.Data[keyStatus]), 0)
	for _, v := range cm.Data {
		size += len(v)
	}
	for _, v := range cm.BinaryData {
		size += len(v)
	}
	for i := range inv.Entries {
		if inv.Entries[i].UID == "" {
			size += recordRoom
		}
	}
	if size > maxData {
		return &TooLargeError{Node: inv.Node, Objects: len(inv.Entries), Size: size, Limit: maxData}
	}
	return nil
}
