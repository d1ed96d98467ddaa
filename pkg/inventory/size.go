package inventory

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

const (
	// maxData is what the values of a ConfigMap may hold together. Labels and
	// annotations have bounds of their own.
	maxData = 1 << 20
	// statusRoom is kept free for a status: a node that fails says more of
	// itself than one that has not run yet.
	statusRoom = 32 << 10
	// recordRoom is kept free in a record for what only the write of its object
	// will tell: uid, digest, generation, resource version, hash of fields.
	recordRoom = 256
)

// TooLargeError says why lynqctl can't record an inventory.
type TooLargeError struct {
	Node lynq.NodeID
	// Objects is how many there are to record. Size is what their records take
	// when all of them are written, Limit what a ConfigMap can hold; bytes.
	Objects, Size, Limit int
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the inventory of node %s is too large for a ConfigMap: its %d objects take %d KiB, and the limit is %d KiB. Split the form into several, each with its own nodes",
		e.Node, e.Objects, (e.Size+1023)>>10, e.Limit>>10)
}

// checkSize refuses what the API server would refuse, now or when the objects
// are written and the record is completed: what cannot be recorded then must
// not be made.
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
