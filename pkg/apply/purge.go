package apply

import (
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// complete records that objects have done their work, before lynqctl deletes them.
// Otherwise a later run would do the work again.
func (d *deletion) complete(due []*Step) error {
	next := d.record.next()
	for _, s := range due {
		s.Record = new(*s.Record)
		s.Record.Phase = inventory.PhaseCompleted
		next.Entries = inventory.Confirm(next.Entries, []inventory.Entry{*s.Record}, nil)
	}
	err := d.record.save(next)
	if err != nil {
		for _, s := range due {
			s.Record.Phase = ""
		}
	}
	return err
}

// purge decides again about an object with completed work.
func (d *deletion) purge(s *Step) move {
	now, err := observe.Entry(d.requests.ctx, d.requests.cluster, s.Record)
	if err != nil {
		return fails(err)
	}
	s.Becomes(s.Recorded(s.Record))
	d.decisions.again(s, now)
	s.State, s.Says = Pending, ""
	return move{kind: moveWaits}
}

// purged records that an object with completed work was deleted. If the form changed the
// object since, it must do its work again.
func (d *deletion) purged(s *Step, message string) move {
	done := plan.Purged(*s.Record)
	s.Record = &done
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
	s.Becomes(step)
	s.State = Pending
	return move{kind: moveWaits}
}
