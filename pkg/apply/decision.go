package apply

import (
	"context"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// decisions decides the steps of a node again in their turn, and asks the gate.
type decisions struct {
	requests *requests
	of       *plan.Plan
	plan     *plan.NodePlan
	record   *record
	secrets  *redact.Filter
	// restoration says how to restore the inventory. It is nil if the plan's steps run.
	restoration *plan.Restoration
}

// recheck decides a step again for the current object.
func (d *decisions) recheck(s *plan.Step, now *tracking.Live) (plan.Step, decide.Verdict) {
	return decide.Recheck(d.of, d.plan, d.record.saved, s, now)
}

// again decides a step again for the current object, and continues with the result.
func (d *decisions) again(s *Step, now *tracking.Live) decide.Verdict {
	step, verdict := d.recheck(s.Step, now)
	s.Becomes(step)
	return verdict
}

// context returns the context of requests about the object of a step. The run doesn't know
// the secret values of an object that leaves, because its row may be gone.
func (d *decisions) context(s *Step) context.Context {
	if sensitive(s) || s.Object == nil && d.secrets.HidesObjects(d.hub().String()) {
		return redact.HideMessages(d.requests.ctx)
	}
	return d.requests.ctx
}

// hub returns the hub of the plan. A restoration has no plan of a hub, but the node's.
func (d *decisions) hub() lynq.HubKey {
	if d.of != nil {
		return d.of.Hub
	}
	return d.plan.Hub
}

// sensitive reports whether the object of a step has, or had at its last write, a value of a
// secret column, so that no message may quote it.
func sensitive(s *Step) bool {
	return s.Object != nil && s.Object.Sensitive || s.Entry != nil && s.Entry.Sensitive
}

// object returns the object of a step for a write.
func (d *decisions) object(s *Step) *write.Object {
	ctx := d.context(s)
	return &write.Object{
		Cluster: d.requests.cluster, Ctx: ctx, DryRun: d.requests.dryRun, Resource: s.Resource,
		Me: d.record.owner(), Owner: d.record.ownerReference(), Own: d.permitOwner, Decide: d.recheck, Step: s.Step, Touched: s.Touched,
	}
}

// permit asks the gate about the observed object. The permit is for the version with the
// observed tracking, because somebody may have taken the object over since.
func (d *decisions) permit(s *Step) (decide.Permit, error) {
	asked := *s.Step
	if as, wrote := d.requests.dependencies.Written(s.UID()); wrote && as != s.Ref() {
		asked.WrittenAs = as.Full()
	}
	if d.requests.dryRun {
		return decide.Trial(d.of, d.plan, d.record.saved, &asked)
	}
	return decide.Permits(d.of, d.plan, d.record.saved, &asked)
}

// permitOwner asks the gate whether the node's inventory may become an owner of a step's
// object.
func (d *decisions) permitOwner(s *plan.Step) (decide.OwnersPermit, error) {
	if d.restoration != nil {
		return decide.PermitReturn(d.restoration, d.record.saved, s)
	}
	return decide.PermitOwner(d.of, d.plan, d.record.saved, s)
}

// took copies the changes of a step from its write.
func took(s *Step, o *write.Object) { s.Step, s.Touched = o.Step, o.Touched }
