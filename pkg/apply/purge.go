package apply

import (
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// purges tells whether the run deletes an object when its work is done: not one that it
// leaves alone, or was deleted so before.
func (n *nodeRun) purges(s *stepRun) bool {
	return s.Purges() && !n.Options.DryRun && n.Options.Wait
}

// purgeDone begins to delete the objects whose work is done: those that are ready, as all
// objects of the waves are up to that at whose end they go. That they are done is
// recorded first, for else they would do their work again. False means that there are
// none.
func (n *nodeRun) purgeDone() bool {
	var due []*stepRun
	for _, i := range n.waves.purges {
		if s := &n.steps[i]; s.state == stepDone && n.purges(s) && n.dependable(s) && n.waveEnded(*s.Object.Policy.PurgeOrder) {
			due = append(due, s)
		}
	}
	if len(due) == 0 {
		return false
	}
	next := n.nextInventory()
	for _, s := range due {
		s.entry = new(*s.entry)
		s.entry.Phase = inventory.PhaseCompleted
		next.Entries = inventory.Confirm(next.Entries, []inventory.Entry{*s.entry}, nil)
	}
	err := n.save(next)
	for _, s := range due {
		if err != nil {
			s.entry.Phase = ""
			n.failed(s, err)
			continue
		}
		n.purge(s)
	}
	return true
}

// dependable tells whether an object is as those want it that depend on it.
func (n *nodeRun) dependable(s *stepRun) bool {
	state, _ := n.dependency(s)
	return state == dependencyMet && s.entry != nil
}

// waveEnded tells whether all objects up to a wave are as those of later ones want them,
// and those are gone whose work was done before its end.
func (n *nodeRun) waveEnded(wave int) bool {
	for i := range n.steps {
		s := &n.steps[i]
		if s.Object == nil || s.Object.Policy.ApplyOrder > wave {
			continue
		}
		if state, _ := n.dependency(s); state != dependencyMet || n.purges(s) && *s.Object.Policy.PurgeOrder < wave {
			return false
		}
	}
	return true
}

// unpurged tells whether objects are yet to be deleted at the end of a wave before this
// one, and gives one whose deletion failed, nil for none.
func (n *nodeRun) unpurged(wave int) (waiting bool, failed *stepRun) {
	for _, i := range n.waves.purges {
		s := &n.steps[i]
		if *s.Object.Policy.PurgeOrder >= wave {
			continue
		}
		switch state, _ := n.dependency(s); {
		case state == dependencyFailed:
			return false, s
		case state == dependencyWaiting, n.purges(s):
			waiting = true
		}
	}
	return waiting, nil
}

// purge decides what is to be done to an object whose work is done, as it is now.
func (n *nodeRun) purge(s *stepRun) {
	now, err := observe.Entry(n.finishing, n.Cluster, s.entry)
	if err != nil {
		n.failed(s, err)
		return
	}
	again := *s.Step
	again.Entry = s.entry
	step, _ := n.of.Recheck(n.plan, n.inventory, &again, now)
	s.Step, s.state, s.message = &step, stepPending, ""
}

// purged records that an object is gone whose work is done. One that its form changed
// since has it to do again.
func (n *nodeRun) purged(s *stepRun, message string) {
	done := *s.entry
	done.UID, done.Generation, done.ResourceVersion, done.Fields = "", 0, "", ""
	s.entry = &done
	if s.Object.Completed(&done) || n.Options.DryRun {
		n.end(s, OutcomeDone, message)
		return
	}
	again := *s.Step
	again.Entry = &done
	step, _ := n.of.Recheck(n.plan, n.inventory, &again, nil)
	next := n.nextInventory()
	next.Entries = inventory.Intent(inventory.Confirm(next.Entries, []inventory.Entry{done}, nil), []inventory.Entry{step.NextEntry()})
	if err := n.save(next); err != nil {
		n.failed(s, err)
		return
	}
	s.Step, s.state = &step, stepPending
}
