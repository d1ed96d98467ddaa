package decide

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// recreate has an update delete an object and create it again, where its patchStrategy
// says so and nothing is lost by it that is not the form's. The server is asked first
// whether more would change than metadata.
func (d *decider) recreate(me plan.Owner, s *plan.Step) {
	if s.Action != plan.ActionUpdate && s.Action != plan.ActionAdopt || s.Object.Policy.Patch != lynq.PatchRecreate {
		return
	}
	if s.InPlace = d.inPlace(me, s); s.InPlace == "" && s.Reason != reason.Untracked {
		s.Action = plan.ActionRecreate
	}
}

// inPlace is why an object is updated as it stands and never deleted for it: it holds
// what the form never set, it is not proven to be the node's, or it is to be kept.
func (d *decider) inPlace(me plan.Owner, s *plan.Step) string {
	r, l := s.Entry, s.Live
	adopted := s.Adopted || s.Action == plan.ActionAdopt
	if !adopted && (r == nil || (adopting{d}).proof(me, r, l) == nil) {
		return "no inventory entry proves that the node owns it"
	}
	q := &question{
		asker: askerRecreate, me: me, entry: r, live: l, why: s.Reason, adopted: adopted, keeps: l.DeletionPolicy,
		data: (s.Object.HoldsData() || r != nil && r.HoldsData()) && !d.in.IncludeData,
	}
	if r != nil {
		q.keeps = r.Deletion.Or(l.DeletionPolicy)
	} else {
		q.entry = new(plan.NewEntry(s.Object))
	}
	if a := d.gate(q); a.Action != plan.ActionDelete {
		return a.Message
	}
	return ""
}
