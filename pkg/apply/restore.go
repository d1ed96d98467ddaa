package apply

import (
	"context"
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// restore replaces an inventory that somebody deleted although the node's row is active.
// The new one has the same entries. Objects first lose their owner reference to the old
// one, because the garbage collector deletes objects with a missing owner. The plan's steps
// then refer them to the new one.
func (n *nodeRun) restore(ctx context.Context) error {
	name := n.plan.Namespace + "/" + inventory.Name(n.plan.Name)
	n.tell.report(report.Event{Type: report.EventWarning, Details: report.Details{Message: "ConfigMap " + name + ", the node's inventory, was deleted: lynqctl restores it, with the same objects (lynqctl delete node deletes them)"}})
	for _, l := range n.plan.Replacement.Unlisted {
		n.tell.report(report.Event{Type: report.EventWarning, Details: report.Details{Object: l.Ref, Message: plan.UnlistedWarning}})
	}
	if n.requests.dryRun {
		return nil
	}
	restored, err := n.record.inventories.Restore(n.requests.ctx, n.record.saved, func() (decide.Permit, error) { return n.dependents().detachAll(ctx) })
	if err != nil {
		return fmt.Errorf("restore inventory %s: %w", name, err)
	}
	n.record.saved = restored
	return nil
}

// dependents returns all objects that refer to the node's inventory.
func (n *nodeRun) dependents() *dependents {
	return &dependents{record: &n.record, requests: &n.requests, decisions: &n.decisions, steps: &n.steps, replacement: n.plan.Replacement, manifests: n.hooks.manifests}
}

// detachUnlisted detaches the unlisted objects of kinds that the next inventory no longer lists. If next
// is nil, the inventory is deleted, and detachUnlisted detaches all unlisted objects.
func (n *nodeRun) detachUnlisted(next *inventory.Inventory) error {
	for _, l := range n.plan.Unlisted {
		if next != nil && next.ListsLike(l.Ref) {
			continue
		}
		if err := l.Stays(); err != nil {
			return fmt.Errorf("%s: %w", l.Ref, err)
		}
		n.tell.report(report.Event{Type: report.EventWarning, Details: report.Details{Object: l.Ref, Message: plan.UnlistedWarning}})
		if err := n.dependents().detachUnlisted(n.requests.ctx, l.Live); err != nil {
			return err
		}
	}
	return nil
}

// Restore restores a lost inventory with its entries, and gives its objects the owner
// reference back. If a run is killed at any moment, the next one can continue.
func Restore(ctx context.Context, c Cluster, inventories Inventories, r *plan.Restoration) error {
	var all Steps
	for _, o := range r.Objects {
		all.Of = append(all.Of, Step{StepResult: report.StepResult{Step: &plan.Step{Entry: o.Entry, Live: o.Live}}, Record: o.Entry})
	}
	p := &plan.NodePlan{NodeID: r.Node, Replacement: r.Replacement}
	q := &requests{cluster: c, ctx: ctx}
	kept := &record{inventories: inventories, requests: q, plan: p, steps: &all, saved: r.Inventory}
	d := &decisions{requests: q, plan: p, record: kept, restoration: r}
	h := &hooks{requests: q, decisions: d, record: kept, steps: &all}
	b := &dependents{record: kept, requests: q, decisions: d, steps: &all, replacement: r.Replacement, manifests: h.manifests}
	err := kept.remake(ctx, func() (decide.Permit, error) { return b.detachAll(ctx) })
	if err == nil {
		err = b.attachAll(ctx)
	}
	if err == nil {
		err = kept.moved()
	}
	if err != nil {
		return fmt.Errorf("restore inventory %s/%s: %w", r.Node.Namespace, inventory.Name(r.Node.Name), write.InNamespace(r.Node.Namespace, write.OrAnotherNamespace, err))
	}
	return nil
}
