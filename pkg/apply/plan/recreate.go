package plan

import "github.com/lynqctl/lynqctl/pkg/lynq"

// recreate has an update delete an object and create it again, where its patchStrategy
// says so and nothing is lost by it that is not the form's. The server is asked first
// whether more would change than metadata.
func (d *decider) recreate(me Owner, s *Step) {
	if s.Action != ActionUpdate && s.Action != ActionAdopt || s.Object.Policy.Patch != lynq.PatchRecreate {
		return
	}
	if s.InPlace = d.inPlace(me, s); s.InPlace == "" && s.Reason != ReasonUntracked {
		s.Action = ActionRecreate
	}
}

// inPlace is why an object is updated as it stands and never deleted for it: it holds
// what the form never set, it is not proven to be the node's, or it is to be kept.
func (d *decider) inPlace(me Owner, s *Step) string {
	r, l := s.Entry, s.Live
	adopted := s.Adopted || s.Action == ActionAdopt
	if !adopted && (r == nil || d.proof(me, r, l) == nil) {
		return "no inventory has an entry for it that proves that it is the node's"
	}
	q := &question{
		asker: AskerRecreate, me: me, entry: r, live: l, why: s.Reason, adopted: adopted, keeps: l.DeletionPolicy,
		data: (s.Object.HoldsData() || r != nil && r.HoldsData()) && !d.IncludeData,
	}
	if r != nil {
		q.keeps = r.Deletion.Or(l.DeletionPolicy)
	} else {
		q.entry = new(NewEntry(s.Object))
	}
	if a := d.gate(q); a.Action != ActionDelete {
		return a.Message
	}
	return ""
}

// Recreates tells whether an update may delete an object and create it again.
func (s *Step) Recreates() bool {
	return s.Object != nil && s.Live != nil && s.Object.Policy.Patch == lynq.PatchRecreate && s.InPlace == "" &&
		(s.Action == ActionUpdate || s.Action == ActionRecreate)
}
