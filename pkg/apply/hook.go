package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// hook tells whether a step runs a hook of a node that goes.
func (s *stepRun) hook() bool { return s.Object != nil && s.Object.Policy.Hook() }

// hookOf is the hook whose object a step takes away when it has completed, nil for none.
func (n *nodeRun) hookOf(s *stepRun) *stepRun {
	if s.Object != nil || !s.Entry.Hook() {
		return nil
	}
	if i, runs := n.index[s.Entry.ID]; runs && n.steps[i].hook() {
		return &n.steps[i]
	}
	return nil
}

// beginHook records that a hook is about to be created, and deletes what it left
// before; false is that the step goes on in another way.
func (n *nodeRun) beginHook(ctx context.Context, s *stepRun) bool {
	switch {
	case s.Live != nil && n.Options.DryRun:
		n.end(s, OutcomeDone, s.Message)
		return false
	case s.Live != nil:
		n.clearHook(ctx, s)
		return false
	case n.Options.DryRun:
		return true
	}
	if err := n.recordHook(s, s.Begins()); err != nil {
		n.failed(s, err)
		return false
	}
	return true
}

// recordHook saves the entry of a hook.
func (n *nodeRun) recordHook(s *stepRun, r inventory.Entry) error {
	step := *s.Step
	step.Entry = &r
	s.Step, s.entry = &step, &r
	next := n.inventory.Clone()
	next.Activate = "false"
	for i := range next.Hooks {
		if next.Hooks[i].Ref == r.Ref {
			next.Hooks[i] = r
		}
	}
	if inventory.Equal(n.inventory, next) {
		return nil
	}
	return n.save(next)
}

// clearHook deletes what a hook made before, to make it again.
func (n *nodeRun) clearHook(ctx context.Context, s *stepRun) {
	permit, err := n.permit(s)
	if err != nil {
		n.failed(s, err)
		return
	}
	gone, err := n.Cluster.Delete(n.finishing, s.resource, permit, Deletion{Propagation: metav1.DeletePropagationBackground})
	if s.tries++; err == nil && !gone {
		n.watchDeleting(s)
		n.awaitGone(s, s.Object.Policy.Timeout)
		return
	}
	if err != nil && (!apierrors.IsNotFound(err) && !apierrors.IsConflict(err) || s.tries > maxTries) {
		n.failed(s, err)
		return
	}
	now, err := n.lookAt(s)
	if err != nil {
		n.failed(s, err)
		return
	}
	step, _ := n.recheck(s, now)
	s.Step = &step
	n.execute(ctx, s)
}

// completeHooks records that the hooks of a node that goes have completed, before
// anything of it is deleted: what they need may be gone then. What they made goes next.
func (n *nodeRun) completeHooks() {
	if n.plan.Desired != nil || n.Options.DryRun || severity(n.worst()) > severity(OutcomeDone) {
		return
	}
	for i := range n.steps {
		s := &n.steps[i]
		h := n.hookOf(s)
		if h == nil || h.entry == nil {
			continue
		}
		r := *h.entry
		r.Phase, r.Ready = inventory.PhaseCompleted, false
		if err := n.recordHook(s, r); err != nil {
			s.entry = nil
			n.failed(h, err)
			return
		}
		h.entry = nil
	}
}

// mayLeaveHook tells whether what a hook made may go: when all else of the node is gone
// but what contains it.
func (n *nodeRun) mayLeaveHook(s *stepRun) bool {
	for i := range n.steps {
		other := &n.steps[i]
		switch {
		case other.Object != nil || other.Entry.Hook() || plan.IsContainer(other.ref()) || other.Action == plan.ActionCollect:
		case other.state != stepDone:
			return false
		case severity(other.outcome) > severity(OutcomeDone) && other.Action != plan.ActionSkip:
			n.end(s, OutcomeSkipped, "it stays until "+other.ref().String()+" is gone")
			return false
		}
	}
	return true
}

// afterHook looks at what a hook of this run made, which is to go; false is that the
// step is as it was planned.
func (n *nodeRun) afterHook(s *stepRun) bool {
	if n.hookOf(s) == nil || s.Live != nil || s.Action != plan.ActionDelete {
		return false
	}
	now, err := observe.Entry(n.finishing, n.Cluster, s.Entry)
	if err != nil {
		n.failed(s, err)
		return true
	}
	if now == nil {
		s.entry = nil
		n.end(s, OutcomeDone, "")
		return true
	}
	step, _ := n.recheck(s, now)
	s.Step = &step
	return false
}

// confirmHooks are the hooks as they are recorded from now on: those that the form
// says, or, of a node that goes, those that are left.
func (n *nodeRun) confirmHooks(next *inventory.Inventory) {
	for i := range n.steps {
		s := &n.steps[i]
		if s.Entry == nil || !s.Entry.Hook() || s.hook() && s.entry == nil || n.hookOf(s) != nil && s.entry == nil && n.hookOf(s).entry != nil {
			continue // the other step of the hook tells
		}
		at := slices.IndexFunc(next.Hooks, func(r inventory.Entry) bool { return r.Ref == s.ref() })
		switch {
		case at >= 0 && n.plan.Desired != nil && s.entry == nil:
			next.Hooks[at].UID, next.Hooks[at].Phase = "", ""
		case at >= 0 && s.entry == nil:
			next.Hooks = slices.Delete(next.Hooks, at, at+1)
		case at >= 0 && n.plan.Desired == nil:
			next.Hooks[at] = *s.entry
			next.Hooks[at].Ready = false
		case at < 0 && s.entry != nil: // the form has it no more, and it is not gone yet
			left := *s.entry
			left.RunOn, left.Phase, left.Digest = "", "", ""
			next.Entries = append(next.Entries, left)
		}
	}
}

// hooksChange tells whether the hooks of a node are not recorded yet as they are to be,
// or their manifests may not belong to the inventory.
func (n *nodeRun) hooksChange(next *inventory.Inventory) bool {
	if n.inventory == nil || n.inventory.UID == "" || n.plan.Replacement != nil {
		return len(next.Hooks) > 0
	}
	return !slices.Equal(n.inventory.Hooks, inventory.SortedHooks(next))
}

// recordHooks saves an intent with other hooks than are recorded. What the inventory
// names is written before it does: the row may be gone in the next run.
func (n *nodeRun) recordHooks(next *inventory.Inventory) error {
	hooks := next.Hooks
	if n.inventory == nil || n.inventory.UID == "" {
		next.Hooks = nil
		if err := n.save(next); err != nil { // to which the Secret belongs
			return err
		}
		next = n.inventory.Clone()
	}
	if err := n.writeManifests(); err != nil {
		return fmt.Errorf("record the resources with runOn: Delete in Secret %s: %w", inventory.HooksName(n.plan.Name), err)
	}
	next.Hooks = hooks
	return n.save(next)
}

// loadHooks reads what the hooks of a node that goes are made of.
func (n *nodeRun) loadHooks() error {
	if n.plan.Desired != nil || !slices.ContainsFunc(n.steps, func(s stepRun) bool { return s.hook() }) {
		return nil
	}
	manifests, err := n.readManifests()
	if err != nil {
		return fmt.Errorf("read what is to run before the node is deleted from Secret %s: %w", inventory.HooksName(n.plan.Name), err)
	}
	for i := range n.steps {
		s := &n.steps[i]
		if !s.hook() || s.Action == plan.ActionBlock {
			continue
		}
		o, err := n.of.ReadHook(n.owner(), s.Entry, manifests[s.Entry.Digest])
		if err != nil {
			return fmt.Errorf("%s is to run before the node is deleted, and its manifest in Secret %s: %w (apply while the row is active records it; %s)",
				s.ref(), inventory.HooksName(n.plan.Name), err, n.owner().WithoutHook(s.ref()))
		}
		if err := n.checkAccount(o); err != nil {
			return err
		}
		step := *s.Step
		step.Object = o
		s.Step = &step
	}
	return nil
}

// checkAccount refuses a hook whose ServiceAccount its namespace lacks, where a record
// alone names it: a ServiceAccount of that name that comes later may be anyone's.
func (n *nodeRun) checkAccount(o *plan.Object) error {
	name, err := n.of.Account(n.owner(), o)
	if err != nil || name == "" {
		return err
	}
	r, err := n.Cluster.Resource(n.finishing, "", "v1", "ServiceAccount")
	if err == nil {
		_, err = n.Cluster.Get(n.finishing, r, o.Namespace, name)
	}
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s must run before lynqctl deletes the node, and namespace %s has no ServiceAccount %s (create it, or pass -f with the hub and the form of the node; %s)",
			o.Ref, o.Namespace, name, n.owner().WithoutHook(o.Ref))
	case err != nil:
		return fmt.Errorf("read ServiceAccount %s/%s, with which %s must run before lynqctl deletes the node: %w (to run it without this check, pass -f with the hub and the form of the node)", o.Namespace, name, o.Ref, err)
	}
	return nil
}

// inHookNamespace is the error of a write of a hook, which says so where its namespace is
// the cause: one that goes with the tenant leaves nothing to wait for.
func (n *nodeRun) inHookNamespace(s *stepRun, err error) error {
	ending := (*NamespaceError)(nil)
	if !errors.As(InNamespace(s.ref().Namespace, "", err), &ending) {
		return err
	}
	what := "does not exist"
	if ending.Terminating {
		what = "is terminating"
	}
	return fmt.Errorf("namespace %s %s: what is to run before the node is deleted cannot be made in it (%s)", ending.Namespace, what, n.owner().WithoutHook(s.ref()))
}
