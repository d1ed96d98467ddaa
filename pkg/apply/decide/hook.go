package decide

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// hooking decides which hooks run before lynqctl deletes a node.
type hooking struct{ d *decider }

// lynqctl creates the object of a deletion hook (runOn: Delete) when it deletes the node.
// The hook must complete before lynqctl deletes other objects of the node. While the node
// is kept, its inventory has an entry for the hook, and the object doesn't exist. A Secret
// has its manifest, because the row may be gone later.

// hooks plans the hooks to run before lynqctl deletes a node.
func (h hooking) hooks(me plan.Owner, inv *inventory.Inventory) []plan.Step {
	if h.d.in.Options.Cascade == plan.CascadeOrphan {
		return nil
	}
	var steps []plan.Step
	for i := range inv.Hooks {
		r := &inv.Hooks[i]
		if r.Phase != inventory.PhaseCompleted && !h.d.in.givenUp(r.Ref) && h.d.excluded(me, r) == "" {
			steps = append(steps, h.hook(me, plan.HookAsRecorded(me, r), r, h.d.in.Observed.Live[r.Ref]))
		}
	}
	return steps
}

// hook plans one hook of a deleted node. An existing object that the hook didn't create
// never counts as its own, and a record alone creates nothing.
func (h hooking) hook(me plan.Owner, o *plan.Object, r *inventory.Entry, l *tracking.Live) plan.Step {
	s := h.hookRun(me, o, r, l)
	if s.Action != plan.ActionCreate {
		return s
	}
	if why, fix := h.declared(me.NodeKey).Undeclared(me, r); why != "" {
		s.Action, s.Reason, s.Message = plan.ActionBlock, plan.ReasonUndeclared, why+" ("+fix+"; "+WithoutHook(me, r.Ref)+")"
		return s
	}
	if l == nil || l.Deleting {
		return s
	}
	// First delete the object of an earlier attempt.
	if a := h.d.gate(&question{asker: askerHook, me: me, entry: r, live: l, why: plan.ReasonLeftover}); a.Action != plan.ActionDelete {
		s.Action, s.Reason, s.Message = plan.ActionBlock, a.Reason, a.Message+" ("+WithoutHook(me, r.Ref)+")"
	}
	return s
}

// hookRun plans a hook that may run, whoever declares it.
func (h hooking) hookRun(me plan.Owner, o *plan.Object, r *inventory.Entry, l *tracking.Live) plan.Step {
	s := plan.Step{Object: o, Entry: r, Live: l, Action: plan.ActionCreate, Reason: plan.ReasonBeforeDelete}
	block := func(why string) plan.Step {
		s.Action, s.Reason, s.Message = plan.ActionBlock, plan.ReasonForeign, why+" (delete it, then run again; "+WithoutHook(me, o.Ref)+")"
		return s
	}
	switch {
	case l == nil && r.Phase == inventory.PhaseRunning && r.UID != "":
		s.Message = "somebody deleted it before it completed"
	case l == nil:
	case l.Record:
		return block(neverTaken)
	case h.d.foreign(me, l) != "":
		return block("it is of " + h.d.foreign(me, l))
	case !me.Tracks(l):
		return block("it exists, and this node didn't create it")
	case l.ResourceID != r.ID:
		return block("the node has it for another resource than " + r.ID)
	case r.UID == "" && !l.Written():
		return block(notWritten)
	case !means(r, l):
		return block(remade)
	case l.Deleting:
		s.Message = "it " + l.Rare().Ending + "; lynqctl creates it again when it is deleted"
	case r.Phase == inventory.PhaseRunning:
		s.Action = plan.ActionKeep
	case l.Unmanaged:
		return block("it failed, and " + MarkedUnmanaged)
	case r.Phase == inventory.PhaseFailed:
		s.Message = "it failed: lynqctl deletes it and creates it again"
	default:
		s.Message = "it is left from before the row became active again: lynqctl deletes it and creates it again"
	}
	return s
}

// WithoutHook tells users how to delete a node with a hook that can't run.
func WithoutHook(me plan.Owner, ref lynq.Ref) string {
	return fmt.Sprintf("to go on without it: kubectl delete configmap %s -n %s --wait=false, then lynqctl finalize -n %[2]s --force %[3]s", inventory.Name(me.Name), me.Namespace, ref.Full())
}

// afterHooks plans the deletion of hooks' objects. lynqctl deletes them after all other
// objects of the node, except their containers.
func (h hooking) afterHooks(me plan.Owner, inv *inventory.Inventory, why plan.Reason) []plan.Step {
	var steps []plan.Step
	for i := range inv.Hooks {
		r := &inv.Hooks[i]
		s := plan.Step{Entry: r, Action: plan.ActionDelete, Reason: why}
		switch begun := r.Phase != ""; {
		case h.d.in.Options.Cascade == plan.CascadeOrphan && !begun:
			s.Action, s.Reason, s.Message = plan.ActionRelease, plan.ReasonNotRun, "it is not run: --cascade=orphan deletes nothing"
		case !begun && h.d.excluded(me, r) != "":
			s.Action, s.Reason, s.Message = plan.ActionRelease, plan.ReasonExcluded, "it is not run: "+h.d.excluded(me, r)
		case h.d.in.givenUp(r.Ref) && h.d.in.Observed.Live[r.Ref] == nil && h.d.in.Options.GiveUp[r.Ref] == nil:
			s.Action, s.Reason, s.Message = plan.ActionRelease, plan.ReasonGivenUp, "it is not run"
		case begun && (h.d.in.Options.Cascade == plan.CascadeOrphan || h.d.in.givenUp(r.Ref) || r.Phase == inventory.PhaseCompleted):
			s = h.d.leavingStep(me, r, h.d.in.Observed.Live[r.Ref], why)
		}
		steps = append(steps, s)
	}
	return steps
}

// blockAfter keeps the objects of blocked hooks, because lynqctl keeps their node.
func blockAfter(hooks, after []plan.Step) {
	for i := range hooks {
		if hooks[i].Action != plan.ActionBlock {
			continue
		}
		for j := range after {
			if s := &after[j]; s.Entry.Ref == hooks[i].Entry.Ref && s.Action == plan.ActionDelete {
				s.Action, s.Reason, s.Message = plan.ActionSkip, hooks[i].Reason, "lynqctl keeps it: its hook is blocked"
			}
		}
	}
}

// leftovers plans the deletion of hooks' objects if the node is desired again.
func (h hooking) leftovers(me plan.Owner, inv *inventory.Inventory) []plan.Step {
	if inv == nil {
		return nil
	}
	var steps []plan.Step
	for i := range inv.Hooks {
		if r := &inv.Hooks[i]; r.Phase != "" {
			steps = append(steps, h.d.leavingStep(me, r, h.d.in.Observed.Live[r.Ref], plan.ReasonLeftover))
		}
	}
	return steps
}
