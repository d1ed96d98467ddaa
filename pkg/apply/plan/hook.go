package plan

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// A hook is an object that is made when its node goes, and has to complete before
// anything of the node is deleted (runOn: Delete). As long as the node stays its
// inventory has an entry for it and there is no object; what it is made of is in a
// Secret, for the row may be gone by then.

// hooks plans what is run before a node goes.
func (d *decider) hooks(me Owner, inv *inventory.Inventory) []Step {
	if d.Cascade == CascadeOrphan {
		return nil
	}
	var steps []Step
	for i := range inv.Hooks {
		r := &inv.Hooks[i]
		if r.Phase != inventory.PhaseCompleted && !d.givenUp(r.Ref) && d.excluded(me, r) == "" {
			steps = append(steps, d.hook(me, recordedHook(me, r), r, d.Live[r.Ref]))
		}
	}
	return steps
}

// recordedHook is what an inventory alone tells of a hook.
func recordedHook(me Owner, r *inventory.Entry) *Object {
	o := asRecorded(me, r)
	o.Policy.RunOn, o.Policy.WaitForReady, o.Policy.SkipOnDependencyFailure = r.RunOn, true, true
	o.Policy.Timeout = lynq.DefaultPolicy().Timeout
	return o
}

// hook plans one hook of a node that goes. What is there and was not made by it is
// never taken for it, and a record alone creates nothing.
func (d *decider) hook(me Owner, o *Object, r *inventory.Entry, l *Live) Step {
	s := d.hookRun(me, o, r, l)
	if s.Action != ActionCreate {
		return s
	}
	if why, fix := d.undeclared(me, r); why != "" {
		s.Action, s.Reason, s.Message = ActionBlock, ReasonUndeclared, why+" ("+fix+"; "+me.WithoutHook(r.Ref)+")"
		return s
	}
	if l == nil || l.Deleting {
		return s
	}
	// An object that an earlier try left is deleted first.
	if a := d.gate(&question{asker: AskerHook, me: me, entry: r, live: l, why: ReasonLeftover}); a.Action != ActionDelete {
		s.Action, s.Reason, s.Message = ActionBlock, a.Reason, a.Message+" ("+me.WithoutHook(r.Ref)+")"
	}
	return s
}

// hookRun is what is to be done for a hook that may run, whoever declares it.
func (d *decider) hookRun(me Owner, o *Object, r *inventory.Entry, l *Live) Step {
	s := Step{Object: o, Entry: r, Live: l, Action: ActionCreate, Reason: ReasonBeforeDelete}
	block := func(why string) Step {
		s.Action, s.Reason, s.Message = ActionBlock, ReasonForeign, why+" (delete it, and run again; "+me.WithoutHook(o.Ref)+")"
		return s
	}
	switch {
	case l == nil && r.Phase == inventory.PhaseRunning && r.UID != "":
		s.Message = "it was deleted before it had completed"
	case l == nil:
	case l.Record:
		return block(neverTaken)
	case d.foreign(me, l) != "":
		return block("it is of " + d.foreign(me, l))
	case !me.Tracks(l):
		return block("it is there already, and this node did not make it")
	case l.ResourceID != r.ID:
		return block("the node has it for another resource than " + r.ID)
	case r.UID != "" && r.UID != string(l.UID):
		return block(remade)
	case l.Deleting:
		s.Message = "it " + l.Ending + "; it is created again when it is gone"
	case r.Phase == inventory.PhaseRunning:
		s.Action = ActionKeep
	case l.Unmanaged:
		return block("it failed, and " + MarkedUnmanaged)
	case r.Phase == inventory.PhaseFailed:
		s.Message = "it failed: it is deleted, and created again"
	default:
		s.Message = "it is left from before the node came back: it is deleted, and created again"
	}
	return s
}

// WithoutHook is how a node goes without a hook that cannot be run.
func (me Owner) WithoutHook(ref lynq.Ref) string {
	return fmt.Sprintf("to go on without it: kubectl delete configmap %s -n %s --wait=false, then lynqctl finalize -n %[2]s --force %[3]s", inventory.Name(me.Name), me.Namespace, ref.Full())
}

// afterHooks plans what becomes of the objects that hooks make: they go with their node,
// after all but what contains them.
func (d *decider) afterHooks(me Owner, inv *inventory.Inventory, why Reason) []Step {
	var steps []Step
	for i := range inv.Hooks {
		r := &inv.Hooks[i]
		s := Step{Entry: r, Action: ActionDelete, Reason: why}
		switch begun := r.Phase != ""; {
		case d.Cascade == CascadeOrphan && !begun:
			s.Action, s.Reason, s.Message = ActionRelease, ReasonNotRun, "it is not run: --cascade=orphan deletes nothing"
		case !begun && d.excluded(me, r) != "":
			s.Action, s.Reason, s.Message = ActionRelease, ReasonExcluded, "it is not run: "+d.excluded(me, r)
		case d.givenUp(r.Ref) && d.Live[r.Ref] == nil && d.GiveUp[r.Ref] == nil:
			s.Action, s.Reason, s.Message = ActionRelease, ReasonGivenUp, "it is not run"
		case begun && (d.Cascade == CascadeOrphan || d.givenUp(r.Ref) || r.Phase == inventory.PhaseCompleted):
			s = d.leavingStep(me, r, d.Live[r.Ref], why)
		}
		steps = append(steps, s)
	}
	return steps
}

// leftovers plans what becomes of the objects that hooks of a node have made which is
// wanted again.
func (d *decider) leftovers(me Owner, inv *inventory.Inventory) []Step {
	if inv == nil {
		return nil
	}
	var steps []Step
	for i := range inv.Hooks {
		if r := &inv.Hooks[i]; r.Phase != "" {
			steps = append(steps, d.leavingStep(me, r, d.Live[r.Ref], ReasonLeftover))
		}
	}
	return steps
}

// nextHooks are the hooks that the form says, as they are recorded. What is there of
// one stays recorded until it is gone.
func (n *Node) nextHooks(recorded []inventory.Entry) []inventory.Entry {
	var next []inventory.Entry
	for i := range n.Hooks {
		r := NewEntry(&n.Hooks[i])
		r.Digest = n.Hooks[i].Digest
		if old, known := inventory.Find(recorded, r.Ref); known {
			r.UID, r.Phase = old.UID, old.Phase
		}
		next = append(next, r)
	}
	return next
}

// Begins is the entry of a hook from just before it is created on.
func (s *Step) Begins() inventory.Entry {
	r := *s.Entry
	r.UID, r.Phase = "", inventory.PhaseRunning
	return r
}

// maxHooks is half of what a Secret may hold: while hooks change, it has those from before too.
const maxHooks = 512 << 10

// checkHooks refuses hooks that no Secret could hold.
func (n *Node) checkHooks() error {
	size := 0
	for i := range n.Hooks {
		manifest, err := n.Hooks[i].HookManifest()
		if err != nil {
			return err
		}
		size += len(manifest)
	}
	if size <= maxHooks {
		return nil
	}
	return fmt.Errorf("node %s: its resources with runOn: Delete take %d KiB, %d KiB can be had (put what is large into a ConfigMap, and mount it)", n.NodeKey, (size+1023)>>10, maxHooks>>10)
}
