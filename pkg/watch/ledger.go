package watch

import "time"

// Ledger knows how far each node of a hub has come: what it wanted, by a digest, when it
// last ended well, and since when it does not. The zero value knows none, so that all are
// due. It is not safe for concurrent use.
type Ledger[Node comparable] struct {
	settled map[Node]string
	failed  map[Node]failure
}

// failure is what a node wanted that did not end well.
type failure struct {
	wanted string
	times  int // in turn
	until  time.Time
}

// Due are the nodes that are to be brought further now: those that want something else
// than when they ended well, those that ended well and are wanted no more, and those that
// did not end well and have waited. wanted has the digest of what each node wants.
func (l *Ledger[Node]) Due(wanted map[Node]string, now time.Time) map[Node]bool {
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

func (l *Ledger[Node]) due(n Node, wanted string, now time.Time) bool {
	if f, bad := l.failed[n]; bad && f.wanted == wanted {
		return !now.Before(f.until)
	}
	settled, known := l.settled[n]
	return !known || settled != wanted
}

// Well notes that a node ended well with what it wanted, "" for one that is wanted no
// more.
func (l *Ledger[Node]) Well(n Node, wanted string) {
	delete(l.failed, n)
	if wanted == "" {
		delete(l.settled, n)
		return
	}
	if l.settled == nil {
		l.settled = map[Node]string{}
	}
	l.settled[n] = wanted
}

// Failed notes that a node did not end well with what it wanted: it waits, longer each time
// in turn (see Pause).
func (l *Ledger[Node]) Failed(n Node, wanted string, now time.Time) {
	if l.failed == nil {
		l.failed = map[Node]failure{}
	}
	f := l.failed[n]
	if f.wanted != wanted {
		f = failure{wanted: wanted}
	}
	f.times++
	f.until = now.Add(Pause(f.times))
	l.failed[n] = f
	delete(l.settled, n)
}

// Again notes that a node is to be brought further as soon as can be: it was interrupted.
func (l *Ledger[Node]) Again(n Node) {
	delete(l.settled, n)
	delete(l.failed, n)
}

// Waiting is how many nodes did not end well.
func (l *Ledger[Node]) Waiting() int { return len(l.failed) }

// Next is when the next node that did not end well has waited, zero where none waits.
func (l *Ledger[Node]) Next() time.Time {
	var next time.Time
	for _, f := range l.failed {
		if next.IsZero() || f.until.Before(next) {
			next = f.until
		}
	}
	return next
}
