package schedule

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Share is the part of a node in the rollout of its form.
type Share uint8

// The parts.
const (
	// ShareNone means that the run writes no object of the node. The node waits for no
	// turn, and its readiness doesn't matter to others.
	ShareNone Share = iota
	// ShareRow means that the node is new or its row changed, independent of the form's
	// rollout. It waits for a turn. Broken nodes don't block it, and it blocks no others if
	// it breaks.
	ShareRow
	// ShareForm means that the form changed since the node's last write. It also means a
	// new node if no node of the form has been ready yet.
	ShareForm
	// ShareStuck means that an earlier run wrote the form's current version and the node
	// wasn't ready. The run writes nothing to it. It keeps its turn, because otherwise a
	// bad form would reach more nodes with every repeated run.
	ShareStuck
)

// proven reports whether the inventory of a node proves that its form works.
func proven(p *plan.NodePlan) bool {
	return p.Inventory != nil && p.Inventory.Status.Is(inventory.ConditionReady)
}

// shareOf returns the part of a node in a rollout. formWorks is set if some node of the
// form is recorded as ready.
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

// recorded reports whether lynqctl has written an object of a node.
func recorded(p *plan.NodePlan) bool {
	return p.Inventory != nil && slices.ContainsFunc(p.Inventory.Entries, func(r inventory.Entry) bool { return r.UID != "" })
}

// unready reports whether a step has nothing to write, and its object isn't ready yet.
func unready(s plan.Step) bool {
	return s.Action == plan.ActionKeep && s.Reason != plan.ReasonLeftOut && s.Object != nil && s.Entry != nil && !s.Entry.Ready && s.Object.Awaited()
}

// formDiffers reports whether the form's templates changed since the last write of a node.
// Inventories from a handover don't have the old ones.
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
	TurnNever // never in this run, because others failed
	TurnNext  // in a later run, as the user requested
)

// turns are the turns of one form's nodes.
type turns struct {
	Most int // the number of turns
	// Continue is set if broken nodes don't block others.
	Continue bool
	// changing counts the nodes with a turn, which are being written or not ready yet.
	// broken are failed nodes of the rollout, which keep their turn.
	changing int
	broken   []lynq.NodeKey
	// pending and stuck are the same for nodes with ShareStuck. These turns block only
	// nodes that the form changes.
	pending int
	stuck   []lynq.NodeKey
}

// Ask reports whether a node may begin to change.
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

// Give notes that a node has returned its turn.
func (t *turns) Give(s Share) {
	switch s {
	case ShareRow, ShareForm:
		t.changing--
	case ShareStuck:
		t.pending--
	}
}

// End notes the result of a node. A failed node of the rollout keeps its turn.
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

// Why says which failed nodes stopped the rollout of a form.
func (t *turns) Why(form string) string {
	return "the rollout of form " + form + " stopped after " + named(slices.Concat(t.broken, t.stuck))
}
