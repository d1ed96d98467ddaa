package watch

import "time"

// Progress knows how far each node of a hub has come: what it wanted, by a digest, when it
// last ended well, and since when it does not. The zero value knows none, so that all are
// due. It is not safe for concurrent use.
type Progress[Node comparable] struct {
	settled map[Node]string
	failed  map[Node]failure
}

// unknown is what a node wanted that came nowhere: no digest is so.
const unknown = "?"

// failure is what a node wanted that did not end well.
type failure struct {
	wanted string
	times  int // in turn
	until  time.Time
}

// Due are the nodes that are to be brought further now: those that want something else
// than when they ended well, those that ended well and are wanted no more, and those that
// did not end well and have waited. wanted has the digest of what each node wants.
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

// The ways.
const (
	// EndWell: the node matches its row and form, or a guard holds it.
	EndWell End = iota
	// EndFailed: the node did not end well, and waits, longer each time in turn (see Pause).
	EndFailed
	// EndInterrupted: the round ended before the node did, and the node is due.
	EndInterrupted
)

// Fail notes that a node failed, while the round is still at work for other nodes: its
// wait counts from now. The digest is "" for a node that is wanted no more.
func (l *Progress[Node]) Fail(n Node, digest string, now time.Time) {
	l.Settle(map[Node]End{n: EndFailed}, map[Node]string{n: digest}, now)
}

// Settle notes how a round ended for some nodes, and what they wanted: none that is wanted
// no more is in wanted.
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

// Waiting counts the nodes that did not end well, without one that does not count.
func (l *Progress[Node]) Waiting(uncounted Node) int {
	if _, bad := l.failed[uncounted]; bad {
		return len(l.failed) - 1
	}
	return len(l.failed)
}

// Next returns when the next node has waited long enough that did not end well. Nodes
// that had waited by after do not count. It is zero where none waits.
func (l *Progress[Node]) Next(after time.Time) time.Time {
	var next time.Time
	for _, f := range l.failed {
		if f.until.After(after) && (next.IsZero() || f.until.Before(next)) {
			next = f.until
		}
	}
	return next
}
