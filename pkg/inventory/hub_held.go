package inventory

import (
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// HeldDeletions are deletions that a guard refused, where all else was done, until
// someone approves them, or they are no longer due.
type HeldDeletions struct {
	Guard string `json:"guard"`
	// Message is what the guard has against them.
	Message string `json:"message"`
	// Digest is of exactly these deletions: an approval names it.
	Digest string    `json:"digest"`
	Since  time.Time `json:"since"`
	// Nodes would go, as NAMESPACE/NODE, and nodes that Partly has would lose objects: as
	// many as there is room for. The others are counted.
	Nodes      []string `json:"nodes,omitempty"`
	MoreNodes  int      `json:"moreNodes,omitempty"`
	Partly     []string `json:"partly,omitempty"`
	MorePartly int      `json:"morePartly,omitempty"`
	// Deleted and Orphaned count the objects that would leave their nodes so.
	Deleted  int `json:"deleted,omitempty"`
	Orphaned int `json:"orphaned,omitempty"`
}

// What the record of a hub has room for.
const (
	maxHeldNodes   = 100
	maxHeldMessage = 512
)

// SetNodes takes as many nodes as there is room for.
func (h *HeldDeletions) SetNodes(going, partly []string) {
	few := func(all []string) ([]string, int) {
		kept := slices.Clone(all[:min(len(all), maxHeldNodes)])
		return kept, len(all) - len(kept)
	}
	h.Nodes, h.MoreNodes = few(going)
	h.Partly, h.MorePartly = few(partly)
	h.Message = cut(h.Message, maxHeldMessage)
}

// Going counts the nodes that would go.
func (h *HeldDeletions) Going() int { return len(h.Nodes) + h.MoreNodes }

// Narrowed counts the nodes that stay and would lose objects.
func (h *HeldDeletions) Narrowed() int { return len(h.Partly) + h.MorePartly }

// equal tells whether two are written alike; either may be nil.
func (h *HeldDeletions) equal(other *HeldDeletions) bool {
	if h == nil || other == nil {
		return h == other
	}
	return h.Guard == other.Guard && h.Message == other.Message && h.Digest == other.Digest && h.Since.Equal(other.Since) &&
		slices.Equal(h.Nodes, other.Nodes) && h.MoreNodes == other.MoreNodes &&
		slices.Equal(h.Partly, other.Partly) && h.MorePartly == other.MorePartly &&
		h.Deleted == other.Deleted && h.Orphaned == other.Orphaned
}

// ApprovedMeanwhile is the record that is to be saved, where nothing but its approval
// changed since it was read: people approve without the Lease, and what they say is not
// to be lost, nor is the run to fail for it. Nil where more changed.
func (h *Hub) ApprovedMeanwhile(there *Hub) *Hub {
	if h.read == nil || there == nil || there.UID != h.UID || there.Deleting != h.read.Deleting || there.Approved == h.read.Approved {
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

// remember takes note of a record as it is in the cluster.
func (h *Hub) remember() {
	read := *h
	read.read = nil
	h.read = &read
}

// annotations are those of a record that are ours.
func (h *Hub) annotations() map[string]string {
	if h.Approved == "" {
		return nil
	}
	return map[string]string{wellknown.AnnotationApproved: h.Approved}
}
