package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// LookAtTombstones reads the metadata of the objects that tombstones name, one request
// for each. An object of a kind that is not served is gone.
func LookAtTombstones(ctx context.Context, c Cluster, stones []plan.Tombstone) error {
	return inParallel(len(stones), func(i int) error {
		err := lookAtTombstone(ctx, c, &stones[i])
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		stones[i].Unknown = err
		return nil
	})
}

func lookAtTombstone(ctx context.Context, c Cluster, t *plan.Tombstone) error {
	group, version := lynq.SplitAPIVersion(t.APIVersion)
	r, err := c.Resource(ctx, group, version, t.Kind)
	if meta.IsNoMatchError(err) {
		r, err = c.Resource(ctx, group, "", t.Kind)
	}
	switch {
	case meta.IsNoMatchError(err):
		return nil
	case err != nil:
		return err
	case r.Namespaced != (t.Namespace != ""):
		return fmt.Errorf("%s: %s has a namespace: %v, and the tombstone says %q (correct its namespace)", t.Pos, t.Kind, r.Namespaced, t.Namespace)
	}
	m, err := c.Metadata(ctx, r, t.Namespace, t.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	l := plan.LiveOf(t.Ref, m)
	t.Live, t.Found = &l, m.Labels
	return nil
}

// byTombstone is what is said of an object that was deleted: which tombstone named it, ""
// where none did.
func (s *stepRun) byTombstone() string {
	if s.Reason != plan.ReasonTombstone {
		return ""
	}
	return s.Message
}

// after carries out the plans that come after the others, node by node, as far as the
// nodes ended well.
func (r *run) after(ctx context.Context, plans []plan.Plan) {
	for i := range plans {
		for _, queue := range r.queues(plans[i : i+1]) {
			for _, n := range queue {
				switch {
				case ctx.Err() != nil:
					n.leftOut(OutcomeInterrupted, beforeItBegan)
				case !r.stats.endedWell(n.plan.NodeKey):
					n.leftOut(OutcomeSkipped, "its tombstones wait until it is ready")
				default:
					r.acquire(ctx)
					n.perform(ctx)
					r.release()
				}
			}
		}
	}
}

// endedWell tells whether a node ended well, or, for what belongs to none, all did.
func (s *stats) endedWell(k plan.NodeKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.Name == plan.TombstonesNode {
		return len(s.failed) == 0
	}
	for i := range s.failed {
		if s.failed[i].NodeKey == k {
			return false
		}
	}
	return true
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
