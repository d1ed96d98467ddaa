package metrics

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// How an object is that a tombstone names (contract: tombstones).
const (
	stoneExists  = 1
	stoneGone    = 0
	stoneFailed  = -1
	stoneSkipped = -2
)

// Tombstones tells of what the tombstones of a hub name, as it was looked at.
func (m *Metrics) Tombstones(hub lynq.HubKey, stones []plan.Tombstone) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetTombstones(hub)
	for i := range stones {
		t := &stones[i]
		m.tombstone(t.Ref, lookedAt(t))
		m.stones[hub] = append(m.stones[hub], t.Ref)
	}
}

func (m *Metrics) tombstone(ref lynq.Ref, status float64) {
	set(m.series.tombstones, status, ref.Kind, ref.Namespace, ref.Name)
}

// forgetTombstones is called under the lock.
func (m *Metrics) forgetTombstones(hub lynq.HubKey) {
	for _, ref := range m.stones[hub] {
		m.series.tombstones.DeleteLabelValues(labels([]string{ref.Kind, ref.Namespace, ref.Name})...)
	}
	delete(m.stones, hub)
}

// lookedAt is how an object is before anything is done with it.
func lookedAt(t *plan.Tombstone) float64 {
	switch {
	case t.Unknown != nil:
		return stoneFailed
	case t.Live == nil:
		return stoneGone
	case t.Differs(t.Live.Rare().Labels) != "":
		return stoneSkipped
	}
	return stoneExists
}

// buried notes what a run did with the object of a tombstone.
func (m *Metrics) buried(e *report.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.stones[e.Hub], e.Object) {
		return
	}
	switch e.Outcome {
	case report.OutcomeDone:
		m.tombstone(e.Object, stoneGone)
	case report.OutcomeFailed, report.OutcomeConflicted, report.OutcomeNotReady:
		m.tombstone(e.Object, stoneFailed)
	}
}
