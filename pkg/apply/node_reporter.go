package apply

import (
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// nodeReporter reports the events of one node to the reporter and to Kubernetes.
type nodeReporter struct {
	reporter report.Reporter
	recorder report.Recorder // may be nil
	now      func() time.Time
	secrets  *redact.Filter
	dryRun   bool
	of       *plan.Plan
	node     *plan.NodePlan
	at       *record
	recorded map[string]bool // the reasons of Kubernetes events so far
}

// report reports an event of the node.
func (t *nodeReporter) report(e report.Event) {
	e.Time, e.NodeID = t.now(), t.node.NodeID
	e.Message = t.secrets.Hide(e.Message)
	e.Hub = t.of.Hub
	t.reporter.Report(e)
}

// ended reports the end of a step.
func (t *nodeReporter) ended(s *Step) {
	r := s.Result()
	t.report(r.Event())
}

// ready reports that an object is ready.
func (t *nodeReporter) ready(s *Step) {
	s.Ready = true
	t.report(report.Event{Type: report.EventReady, Details: report.Details{Object: s.Ref(), ID: s.ID()}})
}

// record records a Kubernetes event about the node's inventory, once for each reason.
// Nothing depends on it.
func (t *nodeReporter) record(kind, reason, message string) {
	if t.recorder == nil || t.dryRun || t.recorded[reason] || !t.at.exists() {
		return
	}
	if t.recorded == nil {
		t.recorded = map[string]bool{}
	}
	t.recorded[reason] = true
	t.recorder.Record(t.at.requests.ctx, report.KubernetesEvent{
		Namespace: t.node.Namespace, Inventory: inventory.Name(t.node.Name), UID: t.at.saved.UID,
		Type: kind, Reason: reason, Message: t.secrets.Hide(message), Time: t.now(),
	})
}

// tombstone records a Kubernetes event about a tombstone's object, for the hub record.
func (t *nodeReporter) tombstone(s *Step) {
	if !t.of.After || t.recorder == nil || t.dryRun || t.of.Record == "" {
		return
	}
	kind, reason := report.Normal, "TombstoneDeleted"
	switch s.Outcome {
	case report.OutcomeDone:
	case report.OutcomeSkipped:
		kind, reason = report.Warning, "TombstoneSkipped"
	default:
		kind, reason = report.Warning, "TombstoneFailed"
	}
	t.recorder.Record(t.at.requests.ctx, report.KubernetesEvent{
		Namespace: t.of.Hub.Namespace, Inventory: inventory.HubName(t.of.Hub.Name), UID: t.of.Record,
		Type: kind, Reason: reason, About: s.Ref().String(), Message: t.secrets.Hide(s.Ref().String() + ": " + s.Says), Time: t.now(),
	})
}

// condition records a Kubernetes event if a node became ready or is degraded. A single cause
// that has an event already needs no second one.
func (t *nodeReporter) condition(next *inventory.Inventory, e *ending, wasReady, waited bool) {
	caused := t.recorded["ResourceConflict"] || t.recorded["ReadinessTimeout"]
	switch {
	case next.Status.Is(inventory.ConditionDegraded) && len(e.problems) == 1 && caused:
	case next.Status.Is(inventory.ConditionDegraded):
		t.record(report.Warning, "Degraded", shorten(strings.Join(e.texts(), "; ")))
	case next.Status.Is(inventory.ConditionReady) && !wasReady && waited:
		t.record(report.Normal, "Ready", "all objects of the node are ready")
	}
}
