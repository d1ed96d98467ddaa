package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Held is what guards have against the deletions of a plan, where all else of it is
// carried out.
type Held struct {
	Refusals []Refusal
	// Nodes would go, and Partly are nodes that stay and would lose objects; both sorted.
	Nodes, Partly []NodeKey
	// Deleted and Orphaned count the objects that would leave their nodes so.
	Deleted, Orphaned int
	// Digest is of exactly that change; see digest.
	Digest string
}

// Guards are those that hold the deletions, by name.
func (h *Held) Guards() string {
	var names []string
	for _, r := range h.Refusals {
		names = append(names, string(r.Guard))
	}
	return strings.Join(names, ", ")
}

// Holdable tells whether a plan is refused for its deletions alone: without them it may
// be carried out. Every other guard is about all that the plan does.
func (p *Plan) Holdable() bool {
	return len(p.Refusals) > 0 && !slices.ContainsFunc(p.Refusals, func(r Refusal) bool {
		return r.Guard != GuardEmpty && r.Guard != GuardMaxDelete
	})
}

// WithoutDeletions is a plan that is holdable, without what the guards refuse: no node
// goes, and no object leaves its node. It is a pure function, and p stays as it is.
//
//   - A node that would go is not in it: none of its steps is carried out, so that its
//     hooks do not run either.
//   - An object that a node which stays wants no more is skipped, and its entry stays,
//     whether it would be deleted, orphaned or only let go. One that another
//     node which stays takes over is no deletion, and moves.
//   - An object that a node wants and one that would go still has is skipped: with it
//     that node would begin to go.
//   - All else is as it was planned. To recreate an object, or to purge one that did its
//     work, is what a row and a form want, and no guard counts it.
//
// What the steps of such a plan become when they are decided again is no deletion
// either.
func (p *Plan) WithoutDeletions() *Plan {
	next := *p
	next.Held, next.Refusals, next.Losses, next.Nodes = p.held(), nil, nil, nil
	taken := map[lynq.Ref]NodeKey{}
	staying := map[NodeKey]bool{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		staying[n.NodeKey] = n.Desired != nil
		for j := range n.Steps {
			if s := &n.Steps[j]; n.Desired == nil && s.To != (NodeKey{}) {
				taken[s.Entry.Ref] = n.NodeKey
			}
		}
	}
	for i := range p.Nodes {
		if n := &p.Nodes[i]; n.Desired != nil {
			next.Nodes = append(next.Nodes, n.withoutDeletions(next.Held, taken, staying))
		}
	}
	next.rules = p.rules.holdingOn(p.Nodes)
	next.Count()
	return &next
}

// withoutDeletions is the plan of a node that stays. taken are the objects that it, or
// another one, would take from nodes that go.
func (p *NodePlan) withoutDeletions(held *Held, taken map[lynq.Ref]NodeKey, staying map[NodeKey]bool) NodePlan {
	next := *p
	next.Steps = slices.Clone(p.Steps)
	next.After = slices.DeleteFunc(slices.Clone(p.After), func(k NodeKey) bool { return !staying[k] })
	me := NewOwner(p.NodeKey, p.Hub, p.Inventory)
	for i := range next.Steps {
		s := &next.Steps[i]
		why := ""
		switch {
		case s.Action == ActionSkip, s.Action == ActionKeep, s.Action == ActionBlock:
		case s.Object == nil && s.To == (NodeKey{}):
			why = "its entry stays: deletions are held (" + held.Guards() + ")"
		case s.Object != nil && taken[s.Object.Ref] != (NodeKey{}) && s.Live != nil && !me.Tracks(s.Live):
			why = "node " + taken[s.Object.Ref].String() + " has it, and does not go: deletions are held (" + held.Guards() + ")"
		}
		if why != "" {
			s.Action, s.Reason, s.Message, s.To = ActionSkip, ReasonHeld, why, NodeKey{}
		}
	}
	return next
}

// holdingOn are the rules of a plan without its deletions: a node that would go gives
// nothing away.
func (d *decider) holdingOn(nodes []NodePlan) *decider {
	if d == nil {
		return nil
	}
	next := *d
	next.holding, next.unknown = true, map[NodeKey]bool{}
	for k := range d.unknown {
		next.unknown[k] = true
	}
	for i := range nodes {
		if nodes[i].Desired == nil {
			next.unknown[nodes[i].NodeKey] = true
		}
	}
	return &next
}

// held is what a plan without its deletions leaves out.
func (p *Plan) held() *Held {
	h := &Held{Refusals: p.Refusals}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		switch {
		case n.Desired == nil && (len(n.Steps) == 0 || slices.ContainsFunc(n.Steps, leavesOrRuns)):
			h.Nodes = append(h.Nodes, n.NodeKey)
		case n.Desired != nil && slices.ContainsFunc(n.Steps, leaves):
			h.Partly = append(h.Partly, n.NodeKey)
		}
		for j := range n.Steps {
			switch s := &n.Steps[j]; {
			case s.Object != nil:
			case s.Action == ActionDelete, s.Action == ActionCollect:
				h.Deleted++
			case s.Action == ActionOrphan:
				h.Orphaned++
			}
		}
	}
	byName := func(a, b NodeKey) int { return strings.Compare(a.String(), b.String()) }
	slices.SortFunc(h.Nodes, byName)
	slices.SortFunc(h.Partly, byName)
	h.Digest = p.digest(h)
	return h
}

// leaves tells whether an object leaves its node with a step: it is deleted or orphaned.
// What is let go is gone, or another's already.
func leaves(s Step) bool {
	return s.Object == nil && (s.Action == ActionDelete || s.Action == ActionCollect || s.Action == ActionOrphan)
}

// leavesOrRuns tells whether a step of a node that goes does anything.
func leavesOrRuns(s Step) bool { return s.Action != ActionSkip && s.Action != ActionKeep }

// digest identifies the deletions of a plan, so that who approves them approves these
// and no others: the hub, the guards that refuse, the nodes that go by the identity of
// their rows, and each object that is deleted or orphaned, with its uid.
//
// It is of the change, and not of the rows: between the look at what is held and the run
// that carries it out other columns may change, and rows may come, which no guard has
// anything against; and the same rows may mean other deletions after a form has changed.
// One more row that goes, or another object, is another digest.
func (p *Plan) digest(h *Held) string {
	lines := []string{}
	going := map[NodeKey]bool{}
	for _, k := range h.Nodes {
		going[k] = true
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if going[n.NodeKey] {
			lines = append(lines, fmt.Sprintf("node %s %s %q", n.NodeKey, n.FormKey(), n.UID))
		}
		for _, s := range n.Steps {
			if !leaves(s) {
				continue
			}
			what := "delete"
			if s.Action == ActionOrphan {
				what = "orphan"
			}
			lines = append(lines, fmt.Sprintf("%s %s of %s %s", what, s.Entry.Full(), n.NodeKey, s.UID()))
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256(fmt.Appendf(nil, "hub %s\nguards %s\n%s", p.Hub, h.Guards(), strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:16])
}
