package window

import (
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Default is over what time a watch counts deletions.
const Default = time.Hour

// maxWindowNodes is how many deleted nodes the record of a hub has room for. It counts the
// others.
const maxWindowNodes = 20_000

// Counted holds the deletions that --max-delete counts.
type Counted struct {
	Going   int // nodes that this plan deletes, or that were deleted in the window
	Earlier int // those of them that this plan does not delete
	Of      int // nodes that are recorded, or were before these deletions
}

// Count adds the deletions in a window to those of a plan. A node counts once,
// however often it was deleted: a run that ended early plans the rest of its deletions
// again. going are the nodes that the plan deletes, and there all that are recorded. It is
// a pure function.
func Count(deletions []inventory.Deletions, now time.Time, window time.Duration, going, there []lynq.NodeKey) Counted {
	gone, more := inWindow(deletions, now, window)
	w := Counted{Earlier: len(gone) + more, Of: len(there) + len(gone) + more}
	if w.Earlier > 0 {
		for _, k := range there {
			if gone[digestOf(k)] {
				w.Of--
			}
		}
		for _, k := range going {
			if gone[digestOf(k)] {
				w.Earlier--
			}
		}
	}
	w.Going = len(going) + w.Earlier
	return w
}

// inWindow are the nodes, by digest, that were deleted in the window before now, and how
// many more. A time in the future is one too: a clock that jumped resets nothing.
func inWindow(deletions []inventory.Deletions, now time.Time, window time.Duration) (nodes map[string]bool, more int) {
	nodes = map[string]bool{}
	if window <= 0 {
		return nodes, 0
	}
	for _, d := range deletions {
		if now.Sub(d.Time) >= window {
			continue
		}
		more += d.More
		for _, digest := range d.Nodes {
			nodes[digest] = true
		}
	}
	return nodes, more
}

// Record adds the nodes that plans delete to the deletions of their hub, without
// those that are in the window already, and forgets what was before the window. changed is
// false where there is nothing to add. It is a pure function.
func Record(deletions []inventory.Deletions, going []lynq.NodeKey, now time.Time, window time.Duration) (next []inventory.Deletions, changed bool) {
	known, _ := inWindow(deletions, now, window)
	added := inventory.Deletions{Time: slotEnd(now, window)}
	for _, k := range going {
		if digest := digestOf(k); !known[digest] {
			added.Nodes = append(added.Nodes, digest)
		}
	}
	if len(added.Nodes) == 0 {
		return deletions, false
	}
	room := maxWindowNodes
	for _, d := range deletions {
		if now.Sub(d.Time) >= window {
			continue
		}
		room -= len(d.Nodes)
		if d.Time.Before(added.Time) {
			next = append(next, d)
			continue
		}
		// It is of the same slot. A later one is of a clock that jumped, and would count
		// until then.
		added.Nodes, added.More = append(added.Nodes, d.Nodes...), added.More+d.More
		room += len(d.Nodes)
	}
	slices.Sort(added.Nodes)
	if over := len(added.Nodes) - max(room, 0); over > 0 {
		added.Nodes, added.More = added.Nodes[:len(added.Nodes)-over], added.More+over
	}
	return append(next, added), true
}

// slotEnd is the time that a record has of deletions that begin now: it has one time for
// those of a slot, so that there are not more times than it has room for.
func slotEnd(now time.Time, window time.Duration) time.Time {
	slot := max(window/60, time.Second).Truncate(time.Second)
	end := now.UTC().Truncate(slot)
	if end.Before(now) {
		end = end.Add(slot)
	}
	return end
}

// digestOf stands for a node in the record of its hub.
func digestOf(k lynq.NodeKey) string { return inventory.NodeDigest(k.Namespace, k.Name) }
