package metrics

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Report implements report.Reporter.
func (m *Metrics) Report(e report.Event) {
	switch e.Type {
	case report.EventNodeStart:
		m.nodeBegan(&e)
	case report.EventObject:
		m.object(&e)
	case report.EventNode:
		m.nodeEnded(&e)
	case report.EventSummary:
		m.runEnded(&e)
	}
}

func (m *Metrics) nodeBegan(e *report.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began[e.Key()] = e.Time
}

// nodeEnded notes the end of a node. Work for tombstones counts for no node.
func (m *Metrics) nodeEnded(e *report.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	began, known := m.began[e.Key()]
	delete(m.began, e.Key())
	if e.Outcome == report.OutcomeInterrupted || e.Form == (lynq.FormKey{}) {
		return
	}
	well := e.Outcome == report.OutcomeDone || e.Outcome == report.OutcomeUnchanged || e.Outcome == report.OutcomeSkipped
	m.nodes.end(e.Hub, e.Key(), well)
	if known {
		observe(m.series.reconciled, e.Time.Sub(began), result(well))
	}
}

func (m *Metrics) object(e *report.Event) {
	if e.Reason == plan.ReasonTombstone || e.Reason == plan.ReasonOtherLabels {
		m.tombstoneEnded(e)
		return
	}
	if e.Outcome == report.OutcomeConflicted {
		v := values(m.perNode, e.Hub, e.Key(), e.Form.Name)
		of := v[:len(nodeLabels(m.perNode))]
		count(m.series.conflicts, append(of, e.Object.Kind, string(e.Conflict))...)
	}
	switch e.Action {
	case plan.ActionCreate, plan.ActionUpdate, plan.ActionRecreate, plan.ActionAdopt, plan.ActionTrack:
	default:
		return
	}
	switch e.Outcome {
	case report.OutcomeDone, report.OutcomeNotReady: // lynqctl wrote it
		count(m.series.attempts, e.Object.Kind, success, string(e.Conflict))
	case report.OutcomeFailed, report.OutcomeConflicted:
		count(m.series.attempts, e.Object.Kind, failure, string(e.Conflict))
	}
}

func (m *Metrics) runEnded(e *report.Event) {
	s := e.Summary
	if s == nil || s.DryRun {
		return
	}
	for _, hub := range s.Hubs {
		how := success
		for i := range s.Failed {
			if s.Failed[i].Hub == hub {
				how = failure
			}
		}
		if s.Interrupted {
			how = interrupted
		}
		observe(m.series.ran, s.Elapsed, hub.Name, hub.Namespace, how)
		if how == success {
			set(m.series.ranAt, seconds(e.Time), hub.Name, hub.Namespace)
		}
	}
}
