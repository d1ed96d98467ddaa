package schedule

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Share says which part a node has in the rollout of its form.
type Share uint8

// The parts.
const (
	// ShareNone: the run writes none of its objects. It waits for no turn, and its
	// readiness is no matter to the others.
	ShareNone Share = iota
	// ShareRow: it is new, or its row changed, and the rollout of the form does not concern
	// it. It waits for a turn, but no broken node keeps it from that, nor does it keep
	// others from theirs when it is broken.
	ShareRow
	// ShareForm: the form changed since the node was written, or the node is new and no
	// node of the form has been ready yet.
	ShareForm
	// ShareStuck: an earlier run wrote it as the form has it now, and it was not ready
	// then. Nothing of it is written. It keeps its turn, or a bad form
	// would reach further nodes with every run that is tried again.
	ShareStuck
)

// proven tells whether a node that is recorded shows that its form works.
func proven(p *plan.NodePlan) bool {
	return p.Inventory != nil && p.Inventory.Status.Is(inventory.ConditionReady)
}

// shareOf tells what a node of a form that has a rollout has to do with it. formWorks:
// some node of the form is recorded as ready.
func shareOf(p *plan.NodePlan, formWorks bool) Share {
	switch {
	case p.Desired == nil || p.Desired.Failed != nil:
		return ShareNone
	case slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Changes() }):
		if formDiffers(p) || !formWorks && !recorded(p) {
			return ShareForm
		}
		return ShareRow
	case slices.ContainsFunc(p.Steps, unready) && !formDiffers(p):
		return ShareStuck
	}
	return ShareNone
}

// recorded tells whether some object of a node has been written.
func recorded(p *plan.NodePlan) bool {
	return p.Inventory != nil && slices.ContainsFunc(p.Inventory.Entries, func(r inventory.Entry) bool { return r.UID != "" })
}

// unready tells whether a step has nothing to write to an object that did not
// become ready yet.
func unready(s plan.Step) bool {
	return s.Action == plan.ActionKeep && s.Reason != reason.LeftOut && s.Object != nil && s.Entry != nil && !s.Entry.Ready && s.Object.Awaited()
}

// formDiffers tells whether the form says something else of a node's objects than
// when they were written last. Records of a handover do not know.
func formDiffers(p *plan.NodePlan) bool {
	if p.Inventory == nil || !slices.ContainsFunc(p.Inventory.Entries, func(r inventory.Entry) bool { return r.Template != "" }) {
		return false
	}
	said := map[string]string{}
	for i := range p.Inventory.Entries {
		said[p.Inventory.Entries[i].ID] = p.Inventory.Entries[i].Template
	}
	for i := range p.Steps {
		o := p.Steps[i].Object
		if o == nil {
			continue
		}
		if before, known := said[o.ID]; !known || before != "" && before != o.Template {
			return true
		}
		delete(said, o.ID)
	}
	return len(said) > 0
}

// Turn says whether a node may begin to change.
type Turn uint8

// The answers.
const (
	TurnNow Turn = iota
	TurnLater
	TurnNever // in this run, because others failed
	TurnNext  // in a later run, as a person wants it
)

// turns are those of the nodes of one form.
type turns struct {
	Most int // how many there are
	// Continue: broken nodes keep no other from its turn.
	Continue bool
	// changing have a turn: they are written, or not ready yet. broken are of the
	// rollout, did not end well, and keep theirs.
	changing int
	broken   []lynq.NodeKey
	// pending and stuck are the same of nodes of ShareStuck. Turns that are kept
	// count only for those that the form changes.
	pending int
	stuck   []lynq.NodeKey
}

// Ask tells whether a node may begin to change.
func (t *turns) Ask(s Share) Turn {
	kept, busy := 0, t.changing
	switch {
	case s == ShareNone, s == ShareStuck:
		return TurnNow
	case s == ShareForm && !t.Continue:
		kept, busy = len(t.broken)+len(t.stuck), busy+t.pending
	}
	switch {
	case kept >= t.Most:
		return TurnNever
	case kept+busy >= t.Most:
		return TurnLater
	}
	return TurnNow
}

// Take notes that a node has a turn.
func (t *turns) Take(s Share) {
	switch s {
	case ShareRow, ShareForm:
		t.changing++
	case ShareStuck:
		t.pending++
	}
}

// Give notes that it has none any more.
func (t *turns) Give(s Share) {
	switch s {
	case ShareRow, ShareForm:
		t.changing--
	case ShareStuck:
		t.pending--
	}
}

// End notes how a node ended. One of the rollout that did not end well keeps its turn.
func (t *turns) End(s Share, n lynq.NodeKey, well bool) {
	t.Give(s)
	switch {
	case well:
	case s == ShareStuck:
		t.stuck = append(t.stuck, n)
	case s == ShareForm:
		t.broken = append(t.broken, n)
	}
}

// Why tells which nodes of a form keep others from their turns.
func (t *turns) Why(form string) string {
	return "the rollout of form " + form + " stopped after " + named(slices.Concat(t.broken, t.stuck))
}
