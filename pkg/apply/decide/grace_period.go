package decide

import (
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// graceMarks are the times at which a run first saw that a node's row is gone. A time is zero if
// its record has none.
type graceMarks struct {
	Inventory, Hub time.Time
}

// Since returns the start of a node's grace period. known is the last recorded time at
// which the node still had its row, or zero.
//
//   - If both records have a time, the later one counts, even in the future. A clock that
//     jumped back keeps the node longer.
//   - Otherwise it is now, but not before any known time. So a slow clock never records a
//     time long ago.
//
// Times are whole seconds, rounded up, as in the records.
func (m graceMarks) Since(now, known time.Time) time.Time {
	if !m.Inventory.IsZero() && !m.Hub.IsZero() {
		return latest(m.Inventory, m.Hub)
	}
	return upToSecond(latest(now, known, m.Inventory, m.Hub))
}

// graceOver reports whether a period that began at since has passed. A period of zero has always
// passed, whatever the clock.
func graceOver(since time.Time, period time.Duration, now time.Time) bool {
	return period == 0 || !now.Before(since.Add(period))
}

// graceUntil returns the end of a period. It is no later than the last second that a record can
// hold, whatever date somebody forged.
func graceUntil(since time.Time, period time.Duration) time.Time {
	last := time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	if until := since.Add(period); until.Before(last) {
		return until
	}
	return last
}

// upToSecond rounds a time up to a whole second.
func upToSecond(t time.Time) time.Time {
	whole := t.UTC().Truncate(time.Second)
	if whole.Before(t) {
		whole = whole.Add(time.Second)
	}
	return whole
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// graceLedger maps the NodeDigests of nodes in their grace period to the times in the hub
// record.
type graceLedger map[string]time.Time

// newGraceLedger reads a hub record. If it lists a node twice, the later time counts.
func newGraceLedger(recorded []inventory.Leaving) graceLedger {
	l := graceLedger{}
	for _, r := range recorded {
		for _, digest := range r.Nodes {
			l[digest] = latest(l[digest], r.Since)
		}
	}
	return l
}

// Of returns the recorded time of a node, or zero.
func (l graceLedger) Of(k lynq.NodeKey) time.Time {
	return l[inventory.NodeDigest(k.Namespace, k.Name)]
}

// Set notes when a node's grace period began.
func (l graceLedger) Set(k lynq.NodeKey, since time.Time) {
	if !since.IsZero() {
		l[inventory.NodeDigest(k.Namespace, k.Name)] = since
	}
}

// maxLeaving is the number of nodes that a hub record has room for. Other nodes wait for
// room, and their period doesn't begin until then.
const maxLeaving = 10_000

// Recorded returns the ledger for the hub record, sorted. If there isn't room for all
// nodes, it keeps those with the earliest times.
func (l graceLedger) Recorded() []inventory.Leaving {
	by := map[time.Time][]string{}
	for digest, since := range l {
		by[since] = append(by[since], digest)
	}
	var all []inventory.Leaving
	for since, nodes := range by {
		slices.Sort(nodes)
		all = append(all, inventory.Leaving{Since: since, Nodes: nodes})
	}
	slices.SortFunc(all, func(a, b inventory.Leaving) int { return a.Since.Compare(b.Since) })
	room := maxLeaving
	for i := range all {
		all[i].Nodes = all[i].Nodes[:min(len(all[i].Nodes), room)]
		if room -= len(all[i].Nodes); room == 0 {
			return all[:i+1]
		}
	}
	return all
}

// MergeLeaving adds a run's changes to a newer hub record. base is the record that the run read,
// mine is the run's result, and theirs is the current record. The run's changes win. If
// another run changed the same node too, the later time counts.
func MergeLeaving(base, mine, theirs []inventory.Leaving) []inventory.Leaving {
	was, next, now := newGraceLedger(base), newGraceLedger(mine), newGraceLedger(theirs)
	for digest, since := range next {
		if !since.Equal(was[digest]) {
			now[digest] = latest(since, now[digest])
		}
	}
	for digest := range was {
		if _, stays := next[digest]; !stays {
			delete(now, digest)
		}
	}
	return now.Recorded()
}
