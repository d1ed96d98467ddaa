package decide

import (
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// DefaultWindow is the time over which a watch counts deletions.
const DefaultWindow = time.Hour

// maxWindowNodes is the number of deleted nodes that a hub record lists. It only counts the
// others.
const maxWindowNodes = 20_000

// countedDeletions holds the deletions that --max-delete counts.
type countedDeletions struct {
	Going   int // nodes that this plan deletes or that earlier runs deleted in the window
	Earlier int // the nodes in Going that this plan doesn't delete
	Of      int // nodes that have an inventory or had one before these deletions
}

// countDeletions adds the deletions in a window to those of a plan. A node counts once, even if
// several runs deleted it, because a run that ended early plans its remaining deletions
// again. going are the nodes that the plan deletes, and there are all nodes with an
// inventory. It is a pure function.
func countDeletions(deletions []inventory.Deletions, now time.Time, window time.Duration, going, there []lynq.NodeKey) countedDeletions {
	gone, more := inWindow(deletions, now, window)
	w := countedDeletions{Earlier: len(gone) + more, Of: len(there) + len(gone) + more}
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

// inWindow returns the digests of the nodes that were deleted in the window before now, and
// the number of unlisted ones. A time in the future is in the window too, so that a clock
// that jumped resets nothing.
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

// RecordDeletions adds the nodes that plans delete to the deletions of their hub. It skips nodes
// that are in the window already, and drops deletions before the window. changed is false
// if there is nothing to add. It is a pure function.
func RecordDeletions(deletions []inventory.Deletions, going []lynq.NodeKey, now time.Time, window time.Duration) (next []inventory.Deletions, changed bool) {
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
		// The deletions are in the same slot. A later slot comes from a clock that jumped,
		// and would count until that time.
		added.Nodes, added.More = append(added.Nodes, d.Nodes...), added.More+d.More
		room += len(d.Nodes)
	}
	slices.Sort(added.Nodes)
	if over := len(added.Nodes) - max(room, 0); over > 0 {
		added.Nodes, added.More = added.Nodes[:len(added.Nodes)-over], added.More+over
	}
	return append(next, added), true
}

// slotEnd returns the time that the hub record stores for deletions that begin now. All
// deletions in a slot share one time, which limits the number of times.
func slotEnd(now time.Time, window time.Duration) time.Time {
	slot := max(window/60, time.Second).Truncate(time.Second)
	end := now.UTC().Truncate(slot)
	if end.Before(now) {
		end = end.Add(slot)
	}
	return end
}

// digestOf returns the digest of a node in the hub record.
func digestOf(k lynq.NodeKey) string { return inventory.NodeDigest(k.Namespace, k.Name) }
