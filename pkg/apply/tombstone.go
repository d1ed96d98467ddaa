package apply

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// LookAtTombstones reads the metadata of the objects that tombstones name, one request
// for each, none for kinds that are not served.
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
		t.Unserved = true
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
