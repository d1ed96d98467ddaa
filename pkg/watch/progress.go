package watch

import "time"

// Progress knows the state of each node of a hub: the digest of what it wanted when it last
// ended well, and its failures since then. The zero value knows no node, so that all are
// due. It isn't safe for concurrent use.
type Progress[Node comparable] struct {
	settled map[Node]string
	failed  map[Node]failure
}

// unknown stands for the digest of a node that never ended well. No digest is equal to it.
const unknown = "?"

// failure has the digest of what a node wanted when it failed.
type failure struct {
	wanted string
	times  int // in a row
	until  time.Time
}

// Due returns the nodes that need a round now: those that want something else than when they
// ended well, those that ended well and that no row wants now, and those that failed and have
// waited. wanted has the digest of what each node wants.
func (l *Progress[Node]) Due(wanted map[Node]string, now time.Time) map[Node]bool {
	due := map[Node]bool{}
	for n, digest := range wanted {
		if l.due(n, digest, now) {
			due[n] = true
		}
	}
	for n := range l.settled {
		if _, known := wanted[n]; !known && l.due(n, "", now) {
			due[n] = true
		}
	}
	for n := range l.failed {
		if _, known := wanted[n]; !known && l.due(n, "", now) {
			due[n] = true
		}
	}
	return due
}

func (l *Progress[Node]) due(n Node, wanted string, now time.Time) bool {
	if f, bad := l.failed[n]; bad && f.wanted == wanted {
		return !now.Before(f.until)
	}
	settled, known := l.settled[n]
	return !known || settled != wanted
}

// End says how a round ended for a node.
type End uint8

// How a round ends for a node.
const (
	// EndWell: the node matches its row and form, or a guard holds it.
	EndWell End = iota
	// EndFailed: the node failed, and waits, longer each time in a row (see Pause).
	EndFailed
	// EndInterrupted: the round ended before the node, and the node is due.
	EndInterrupted
)

// Fail notes that a node failed while the round continues with other nodes. The node waits from
// now on. digest is "" for a node that no row wants.
func (l *Progress[Node]) Fail(n Node, digest string, now time.Time) {
	l.Settle(map[Node]End{n: EndFailed}, map[Node]string{n: digest}, now)
}

// Settle notes how a round ended for some nodes, and what they wanted. Nodes that no row wants
// aren't in wanted.
func (l *Progress[Node]) Settle(ends map[Node]End, wanted map[Node]string, now time.Time) {
	if l.settled == nil {
		l.settled, l.failed = map[Node]string{}, map[Node]failure{}
	}
	for n, end := range ends {
		digest, stays := wanted[n]
		f := l.failed[n]
		delete(l.settled, n)
		delete(l.failed, n)
		switch {
		case end == EndFailed:
			if f.wanted != digest {
				f = failure{wanted: digest}
			}
			f.times++
			f.until = now.Add(Pause(f.times))
			l.failed[n] = f
		case end == EndInterrupted:
			l.settled[n] = unknown
		case stays:
			l.settled[n] = digest
		}
	}
}

// Waiting counts the nodes that failed, without one that doesn't count.
func (l *Progress[Node]) Waiting(uncounted Node) int {
	if _, bad := l.failed[uncounted]; bad {
		return len(l.failed) - 1
	}
	return len(l.failed)
}

// Next returns when the next failed node has waited long enough. Nodes that had waited until
// after don't count. It is zero if no node waits.
func (l *Progress[Node]) Next(after time.Time) time.Time {
	var next time.Time
	for _, f := range l.failed {
		if f.until.After(after) && (next.IsZero() || f.until.Before(next)) {
			next = f.until
		}
	}
	return next
}
