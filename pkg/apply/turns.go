package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// share is what a node has to do with the rollout of its form.
type share uint8

const (
	// shareNone: none of its objects are written. It waits for no turn, and its
	// readiness is no matter to the others.
	shareNone share = iota
	// shareRow: it is new, or its row changed. Its readiness is a matter of this
	// run alone: a broken node of before keeps no other tenant from its change.
	shareRow
	// shareForm: the form says something else of it than when it was written last.
	shareForm
	// shareStuck: an earlier run wrote it as the form has it now, and it was not
	// ready then. Nothing of it is written. It keeps its turn, or a bad form
	// would reach further nodes with every run that is tried again.
	shareStuck
)

// shareOf tells what a node of a form that has a rollout has to do with it.
func shareOf(p *NodePlan) share {
	switch {
	case p.Desired == nil || p.Desired.Failed != nil:
		return shareNone
	case slices.ContainsFunc(p.Steps, writes):
		if formDiffers(p) {
			return shareForm
		}
		return shareRow
	case slices.ContainsFunc(p.Steps, unready) && !formDiffers(p):
		return shareStuck
	}
	return shareNone
}

// writes tells whether a step changes an object.
func writes(s Step) bool {
	switch s.Action {
	case ActionCreate, ActionUpdate, ActionAdopt, ActionTrack, ActionDelete, ActionOrphan:
		return true
	}
	return false
}

// unready tells whether a step has nothing to write to an object that did not
// become ready yet.
func unready(s Step) bool {
	return s.Action == ActionKeep && s.Reason != ReasonLeftOut && s.Object != nil && s.Record != nil && !s.Record.Ready &&
		s.Object.Policy.WaitForReady && !alwaysReady(s.Object.Group, s.Object.Kind, s.Object.Body)
}

// formDiffers tells whether the form says something else of a node's objects than
// when they were written last. Records of earlier versions do not know.
func formDiffers(p *NodePlan) bool {
	if p.Inventory == nil || !slices.ContainsFunc(p.Inventory.Records, func(r inventory.Record) bool { return r.Template != "" }) {
		return false
	}
	said := map[string]string{}
	for i := range p.Inventory.Records {
		said[p.Inventory.Records[i].ID] = p.Inventory.Records[i].Template
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

// turn is whether a node may begin to change.
type turn uint8

const (
	turnNow turn = iota
	turnLater
	turnNever // in this run
)

// turns are those of the nodes of one form.
type turns struct {
	most int // how many there are
	// changing have a turn: they are written, or not ready yet. broken did not
	// end well, and keep theirs.
	changing int
	broken   []brokenNode
	// pending and stuck are the same of nodes of shareStuck. Their turns count
	// only for those that the form changes.
	pending int
	stuck   []brokenNode
}

type brokenNode struct {
	NodeKey
	outcome string
}

// verdict tells whether a node may begin to change.
func (t *turns) verdict(s share) turn {
	kept, busy := len(t.broken), t.changing
	switch s {
	case shareNone, shareStuck:
		return turnNow
	case shareForm:
		kept, busy = kept+len(t.stuck), busy+t.pending
	}
	switch {
	case kept >= t.most:
		return turnNever
	case kept+busy >= t.most:
		return turnLater
	}
	return turnNow
}

// take notes that a node has a turn.
func (t *turns) take(s share) {
	switch s {
	case shareRow, shareForm:
		t.changing++
	case shareStuck:
		t.pending++
	}
}

// give notes that it has none any more.
func (t *turns) give(s share) {
	switch s {
	case shareRow, shareForm:
		t.changing--
	case shareStuck:
		t.pending--
	}
}

// end notes how a node ended. One that did not end well keeps its turn.
func (t *turns) end(s share, n NodeKey, well bool, outcome string) {
	t.give(s)
	switch {
	case well:
	case s == shareStuck:
		t.stuck = append(t.stuck, brokenNode{n, outcome})
	case s != shareNone:
		t.broken = append(t.broken, brokenNode{n, outcome})
	}
}

// why tells which nodes keep others from their turns.
func (t *turns) why(s share) string {
	nodes := slices.Clone(t.broken)
	if s == shareForm {
		nodes = append(nodes, t.stuck...)
	}
	slices.SortFunc(nodes, func(a, b brokenNode) int { return strings.Compare(a.String(), b.String()) })
	var are []string
	for _, n := range nodes[:min(len(nodes), maxNamed)] {
		are = append(are, fmt.Sprintf("node %s is %s", n.Name, n.outcome))
	}
	if more := len(nodes) - len(are); more > 0 {
		are = append(are, fmt.Sprintf("and %d more", more))
	}
	return "the rollout of the form stopped: " + strings.Join(are, ", ")
}
