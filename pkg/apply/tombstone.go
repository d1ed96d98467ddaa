package apply

import (
	"context"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// told is what the report says of an object that was deleted: which tombstone named it, or
// that its data is lost; "" for most.
func (s *stepRun) told() string {
	if s.Reason == plan.ReasonTombstone || s.Loss() {
		return s.Message
	}
	return ""
}

// after carries out the plans that come after the others, as far as the nodes ended well
// that are wanted.
func (r *run) after(ctx context.Context, plans []plan.Plan) {
	for _, queue := range r.queues(plans) {
		r.dispatch(ctx, slices.DeleteFunc(queue, func(n *nodeRun) bool {
			waits := !r.stats.endedWell(n.plan.NodeKey)
			if waits {
				n.leftOut(OutcomeSkipped, "its tombstones wait until it is ready")
			}
			return waits
		}))
	}
}

// endedWell tells whether a node ended well, or, for what belongs to none, all did. One
// that goes has nothing that is to take the place of what a tombstone names.
func (s *stats) endedWell(k plan.NodeKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.Name == plan.TombstonesNode {
		return len(s.unwell) == 0
	}
	return !s.unwell[k]
}

// tellOfTombstone tells Kubernetes what became of the object of a tombstone, at the
// record of its hub.
func (n *nodeRun) tellOfTombstone(s *stepRun) {
	if !n.of.After || n.Recorder == nil || n.Options.DryRun || n.of.Record == "" {
		return
	}
	kind, reason := eventNormal, "TombstoneDeleted"
	switch s.outcome {
	case OutcomeDone:
	case OutcomeSkipped:
		kind, reason = eventWarning, "TombstoneSkipped"
	default:
		kind, reason = eventWarning, "TombstoneFailed"
	}
	n.Recorder.Record(n.finishing, KubernetesEvent{
		Namespace: n.hub.Namespace, Inventory: inventory.HubName(n.hub.Name), UID: n.of.Record,
		Type: kind, Reason: reason, Message: s.ref().String() + ": " + s.message, Time: n.Now(),
	})
}
