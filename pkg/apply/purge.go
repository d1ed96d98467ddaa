package apply

import (
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// toPurge are the steps of objects whose work is done: those that are ready, as all
// objects of the waves are up to that at whose end they go.
func (all *steps) toPurge() []*stepRun {
	var due []*stepRun
	for _, i := range all.leaving {
		if s := &all.of[i]; s.state == stepDone && all.purges(s) && all.dependable(s) && all.waveEnded(*s.Object.Policy.PurgeOrder) {
			due = append(due, s)
		}
	}
	return due
}

// complete records that objects have done their work, before they are deleted: else they
// would do it again.
func (d *deletion) complete(due []*stepRun) error {
	next := d.record.next()
	for _, s := range due {
		s.entry = new(*s.entry)
		s.entry.Phase = inventory.PhaseCompleted
		next.Entries = inventory.Confirm(next.Entries, []inventory.Entry{*s.entry}, nil)
	}
	err := d.record.save(next)
	if err != nil {
		for _, s := range due {
			s.entry.Phase = ""
		}
	}
	return err
}

// purge decides what is to be done to an object whose work is done, as it is now.
func (d *deletion) purge(s *stepRun) move {
	now, err := observe.Entry(d.requests.ctx, d.requests.cluster, s.entry)
	if err != nil {
		return fails(err)
	}
	s.becomes(s.Recorded(s.entry))
	d.decisions.again(s, now)
	s.state, s.message = stepPending, ""
	return move{kind: moveWaits}
}

// purged records that an object is gone whose work is done. One that its form changed
// since has it to do again.
func (d *deletion) purged(s *stepRun, message string) move {
	done := plan.Purged(*s.entry)
	s.entry = &done
	if s.Object.Completed(&done) || d.requests.dryRun {
		return endsAs(report.OutcomeDone, message)
	}
	recorded := s.Recorded(&done)
	step, _ := d.decisions.recheck(&recorded, nil)
	next := d.record.next()
	next.Entries = inventory.Intent(inventory.Confirm(next.Entries, []inventory.Entry{done}, nil), []inventory.Entry{step.NextEntry()})
	if err := d.record.save(next); err != nil {
		return fails(err)
	}
	s.becomes(step)
	s.state = stepPending
	return move{kind: moveWaits}
}
