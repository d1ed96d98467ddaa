package inventory

import (
	"fmt"
	"slices"
	"strings"

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
	// Others are the keys of data that other clients added, if it would fit without them.
	Others []string
}

// Error implements error.
func (e *TooLargeError) Error() string {
	if len(e.Others) > 0 {
		return fmt.Sprintf("the inventory of node %s is too large for a ConfigMap, because other clients added data to it: remove %s from ConfigMap %s/%s, and run again",
			e.Node, strings.Join(e.Others, ", "), e.Node.Namespace, Name(e.Node.Name))
	}
	return fmt.Sprintf("the inventory of node %s is too large for a ConfigMap: its %d objects take %d KiB, and the limit is %d KiB. Split the form into several, each with its own nodes",
		e.Node, e.Objects, (e.Size+1023)>>10, e.Limit>>10)
}

// checkSize refuses an inventory that the API server would refuse, now or after the
// writes. lynqctl must not create objects that it can't record then.
func checkSize(inv *Inventory, cm *corev1.ConfigMap) error {
	size, own := max(statusRoom-len(cm.Data[keyStatus]), 0), nodeKeys().data
	others, othersSize := []string{}, 0
	for k, v := range cm.Data {
		size += len(v)
		if !own(k) {
			others, othersSize = append(others, "data."+k), othersSize+len(v)
		}
	}
	for k, v := range cm.BinaryData {
		size += len(v)
		others, othersSize = append(others, "binaryData."+k), othersSize+len(v)
	}
	for i := range inv.Entries {
		if inv.Entries[i].UID == "" {
			size += recordRoom
		}
	}
	if size <= maxData {
		return nil
	}
	e := &TooLargeError{Node: inv.Node, Objects: len(inv.Entries), Size: size, Limit: maxData}
	if size-othersSize <= maxData {
		slices.Sort(others)
		e.Others = others
	}
	return e
}
