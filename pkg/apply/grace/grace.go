package grace

import (
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Marks are the times at which a run first saw a node's row gone, zero where a record has
// none.
type Marks struct {
	Inventory, Hub time.Time
}

// Since is from when on the grace period of a node counts. known is the latest time that
// records have of when the node still had its row, zero for none.
//
//   - Records that both have a time give the later one, though it may be in the future: a
//     clock that jumped back keeps the node longer.
//   - Otherwise it is now, and not before any time that is known: a clock that is behind
//     records no time that was long ago.
//
// Times are whole seconds, rounded up, as records have them.
func (m Marks) Since(now, known time.Time) time.Time {
	if !m.Inventory.IsZero() && !m.Hub.IsZero() {
		return latest(m.Inventory, m.Hub)
	}
	return upToSecond(latest(now, known, m.Inventory, m.Hub))
}

// Over tells whether a period that began at since has passed. One of no time has, whatever
// the clock.
func Over(since time.Time, period time.Duration, now time.Time) bool {
	return period == 0 || !now.Before(since.Add(period))
}

// upToSecond is a time in whole seconds, not before t.
func upToSecond(t time.Time) time.Time {
	whole := t.UTC().Truncate(time.Second)
	if whole.Before(t) {
		whole = whole.Add(time.Second)
	}
	return whole
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// Ledger maps nodes that leave, by NodeDigest, to the times that the record of their hub has.
type Ledger map[string]time.Time

// NewLedger reads what a record has. Of a node that it has twice, the later time counts.
func NewLedger(recorded []inventory.Leaving) Ledger {
	l := Ledger{}
	for _, r := range recorded {
		for _, digest := range r.Nodes {
			l[digest] = latest(l[digest], r.Since)
		}
	}
	return l
}

// Of is since when the record has a node, zero where it does not have it.
func (l Ledger) Of(k lynq.NodeKey) time.Time { return l[inventory.NodeDigest(k.Namespace, k.Name)] }

// Set notes since when a node leaves.
func (l Ledger) Set(k lynq.NodeKey, since time.Time) {
	if !since.IsZero() {
		l[inventory.NodeDigest(k.Namespace, k.Name)] = since
	}
}

// maxLeaving is how many nodes the record of a hub has room for. Others are recorded when
// there is room: until then their time does not begin.
const maxLeaving = 10_000

// Recorded is the ledger as a record has it, sorted. Nodes that leave since the earliest
// times go first where there is no room for all.
func (l Ledger) Recorded() []inventory.Leaving {
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

// Merge brings what a run made of a record into what the record has since: base is what the
// run knew of it, mine what the run made of that, and theirs what it has now. A node that the
// run changed is as the run has it; where the others changed it too, the later time counts.
func Merge(base, mine, theirs []inventory.Leaving) []inventory.Leaving {
	was, next, now := NewLedger(base), NewLedger(mine), NewLedger(theirs)
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
