package metrics

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// The states of an object that a tombstone names (contract: tombstones).
const (
	tombstoneExists  = 1
	tombstoneGone    = 0
	tombstoneFailed  = -1
	tombstoneSkipped = -2
)

// Tombstones notes the objects that the tombstones of a hub name.
func (m *Metrics) Tombstones(hub lynq.HubKey, tombstones []plan.Tombstone) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetTombstones(hub)
	for i := range tombstones {
		t := &tombstones[i]
		m.setTombstone(t.Ref, statusOf(t))
		m.tombstones[hub] = append(m.tombstones[hub], t.Ref)
	}
}

func (m *Metrics) setTombstone(ref lynq.Ref, status float64) {
	set(m.series.tombstones, status, ref.Kind, ref.Namespace, ref.Name)
}

// forgetTombstones ends the series of a hub's tombstones. The caller holds the lock.
func (m *Metrics) forgetTombstones(hub lynq.HubKey) {
	for _, ref := range m.tombstones[hub] {
		m.series.tombstones.DeleteLabelValues(labels([]string{ref.Kind, ref.Namespace, ref.Name})...)
	}
	delete(m.tombstones, hub)
}

// statusOf returns the state of an object before the run.
func statusOf(t *plan.Tombstone) float64 {
	switch {
	case t.Unknown != nil:
		return tombstoneFailed
	case t.Live == nil:
		return tombstoneGone
	case t.Differs(t.Live.Rare().Labels) != "":
		return tombstoneSkipped
	}
	return tombstoneExists
}

// tombstoneEnded notes what a run did with the object of a tombstone.
func (m *Metrics) tombstoneEnded(e *report.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.tombstones[e.Hub], e.Object) {
		return
	}
	switch e.Outcome {
	case report.OutcomeDone:
		m.setTombstone(e.Object, tombstoneGone)
	case report.OutcomeFailed, report.OutcomeConflicted, report.OutcomeNotReady:
		m.setTombstone(e.Object, tombstoneFailed)
	}
}
