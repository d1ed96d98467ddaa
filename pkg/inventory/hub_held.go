package inventory

import (
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// HeldDeletions are deletions that a guard refused while lynqctl did the rest. They wait
// until a user approves them, or until they are no longer needed.
type HeldDeletions struct {
	Guard string `json:"guard"`
	// Message is the guard's reason.
	Message string `json:"message"`
	// Digest covers exactly these deletions. An approval names it.
	Digest string    `json:"digest"`
	Since  time.Time `json:"since"`
	// Nodes would be deleted, as NAMESPACE/NODE. Nodes in Partly would lose objects. Both
	// have as many as fit, and counts for the rest.
	Nodes      []string `json:"nodes,omitempty"`
	MoreNodes  int      `json:"moreNodes,omitempty"`
	Partly     []string `json:"partly,omitempty"`
	MorePartly int      `json:"morePartly,omitempty"`
	// Deleted and Orphaned count the objects that the nodes would lose.
	Deleted  int `json:"deleted,omitempty"`
	Orphaned int `json:"orphaned,omitempty"`
}

// These limits keep a hub record small.
const (
	maxHeldNodes   = 100
	maxHeldMessage = 512
)

// SetNodes stores as many nodes as fit.
func (h *HeldDeletions) SetNodes(going, partly []string) {
	few := func(all []string) ([]string, int) {
		kept := slices.Clone(all[:min(len(all), maxHeldNodes)])
		return kept, len(all) - len(kept)
	}
	h.Nodes, h.MoreNodes = few(going)
	h.Partly, h.MorePartly = few(partly)
	h.Message = cut(h.Message, maxHeldMessage)
}

// Going counts the nodes that would be deleted.
func (h *HeldDeletions) Going() int { return len(h.Nodes) + h.MoreNodes }

// Narrowed counts the nodes that would lose only some objects.
func (h *HeldDeletions) Narrowed() int { return len(h.Partly) + h.MorePartly }

// equal reports whether both encode to the same data. Either may be nil.
func (h *HeldDeletions) equal(other *HeldDeletions) bool {
	if h == nil || other == nil {
		return h == other
	}
	return h.Guard == other.Guard && h.Message == other.Message && h.Digest == other.Digest && h.Since.Equal(other.Since) &&
		slices.Equal(h.Nodes, other.Nodes) && h.MoreNodes == other.MoreNodes &&
		slices.Equal(h.Partly, other.Partly) && h.MorePartly == other.MorePartly &&
		h.Deleted == other.Deleted && h.Orphaned == other.Orphaned
}

// ApprovedMeanwhile returns the record to save if only its approval, or fields of other
// clients, changed since the read. Users approve and ask without the Lease, so a run must
// neither fail nor lose that.
// It returns nil if more has changed.
func (h *Hub) ApprovedMeanwhile(there *Hub) *Hub {
	if h.read == nil || there == nil || there.UID != h.UID || there.Deleting != h.read.Deleting {
		return nil
	}
	was := *h.read
	was.Approved = there.Approved
	if !EqualHubs(&was, there) {
		return nil
	}
	next := *h
	next.ResourceVersion, next.Others, next.read = there.ResourceVersion, there.Others, there.read
	if h.Approved == h.read.Approved || there.Approved != "" {
		next.Approved = there.Approved
	}
	return &next
}

// remember stores the record's state in the cluster.
func (h *Hub) remember() {
	read := *h
	read.read = nil
	h.read = &read
}

// annotations returns lynqctl's own annotations of a record.
func (h *Hub) annotations() map[string]string {
	if h.Approved == "" {
		return nil
	}
	return map[string]string{wellknown.AnnotationApproved: h.Approved}
}
