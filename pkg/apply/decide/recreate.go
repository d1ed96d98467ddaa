package decide

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// recreate changes an update into a recreation if the patchStrategy says so, the manifest
// changed, and only content of the form is lost. The server is asked first whether more than
// metadata would change.
func (d *decider) recreate(me plan.Owner, s *plan.Step) {
	if s.Action != plan.ActionUpdate && s.Action != plan.ActionAdopt || s.Object.Policy.Patch != lynq.PatchRecreate {
		return
	}
	if s.InPlace = d.inPlace(me, s); s.InPlace == "" {
		s.Action = plan.ActionRecreate
	}
}

// inPlace says why lynqctl must update an object and never delete it, or returns "". The
// object may have content outside the form, lack a proof of its node, or have a policy that
// keeps it.
func (d *decider) inPlace(me plan.Owner, s *plan.Step) string {
	r, l := s.Entry, s.Live
	adopted := s.Adopted || s.Action == plan.ActionAdopt
	if !adopted && (r == nil || (adopting{d}).proof(me, r, l) == nil) {
		return "no inventory entry proves that the node owns it"
	}
	if s.Unaltered() {
		return "its manifest didn't change, and lynqctl repairs changes of other clients in place"
	}
	q := &question{
		asker: askerRecreate, me: me, entry: r, live: l, why: s.Reason, adopted: adopted, keeps: l.DeletionPolicy,
		data: (s.Object.HoldsData() || r != nil && r.HoldsData() || d.holdsDataAs(l.Ref, l)) && !d.in.Options.IncludeData,
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
