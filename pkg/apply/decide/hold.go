package decide

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

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
//   - A node that is kept for its grace period begins to leave, unless no row is active:
//     then the source may be broken, and no grace period begins.
//   - All else is as it was planned. To recreate an object, or to purge one that did its
//     work, is what a row and a form want, and no guard counts it.
//
// What the steps of such a plan become when they are decided again is no deletion
// either.
func WithoutDeletions(p *plan.Plan) *plan.Plan {
	next := *p
	next.Held, next.Refusals, next.Losses, next.Nodes = heldBack(p), nil, nil, nil
	if d := rulesOf(p); d != nil && refusedBy(p, plan.GuardEmpty) {
		next.Leaving, next.LeavingRecord = nil, d.in.Grace.Recorded
	}
	taken := takenIn(p)
	staying := map[lynq.NodeKey]bool{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		staying[n.Key()] = !leavesWhole(n)
	}
	for i := range p.Nodes {
		if n := &p.Nodes[i]; !leavesWhole(n) {
			next.Nodes = append(next.Nodes, withoutDeletions(n, next.Held, taken, staying))
		}
	}
	if d := rulesOf(p); d != nil {
		next.Rules = d.holdingOn(p.Nodes)
	}
	next.Count()
	return &next
}

// takenIn are the objects that other nodes take from nodes of a plan that go.
func takenIn(p *plan.Plan) map[lynq.Ref]lynq.NodeKey {
	taken := map[lynq.Ref]lynq.NodeKey{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		for j := range n.Steps {
			if s := &n.Steps[j]; leavesWhole(n) && s.To != (lynq.NodeKey{}) {
				taken[s.Entry.Ref] = n.Key()
			}
		}
	}
	return taken
}

// WithoutTaking is a plan that was made together with the plan of another hub, of which held
// is carried out and not whole: nodes that held keeps give it nothing. It is a pure function.
func WithoutTaking(p, whole, held *plan.Plan) *plan.Plan {
	next := *p
	next.Nodes = slices.Clone(p.Nodes)
	taken := takenIn(whole)
	for i := range next.Nodes {
		n := &next.Nodes[i]
		n.Steps = slices.Clone(n.Steps)
		me := plan.NewOwner(n.Key(), n.Hub, n.Inventory)
		for k := range n.Steps {
			if s := &n.Steps[k]; s.Writes() && takes(me, s, taken) {
				holdStep(s, keptByNode(taken[s.Object.Ref], held.Held))
			}
		}
	}
	if d, b := rulesOf(p), rulesOf(held); d != nil && b != nil {
		next.Rules = d.withBeside(b)
	}
	next.Count()
	return &next
}

// withBeside are the rules of a hub beside which another one has these.
func (d *decider) withBeside(b *decider) *decider {
	next := *d
	next.beside = slices.Clone(d.beside)
	for i := range next.beside {
		if next.beside[i].in.Hub == b.in.Hub {
			next.beside[i] = b
		}
	}
	return &next
}

// takes reports whether a step writes an object of a node that leaves.
func takes(me plan.Owner, s *plan.Step, taken map[lynq.Ref]lynq.NodeKey) bool {
	return s.Object != nil && taken[s.Object.Ref] != (lynq.NodeKey{}) && s.Live != nil && !me.Tracks(s.Live)
}

// holdStep has a step do nothing.
func holdStep(s *plan.Step, why string) {
	s.Action, s.Reason, s.Message, s.To = plan.ActionSkip, reason.Held, why, lynq.NodeKey{}
}

// keptByNode says which node keeps an object.
func keptByNode(k lynq.NodeKey, h *plan.Held) string {
	return "node " + k.String() + " has it, and is kept: deletions are held (" + h.Guards() + ")"
}

// refusedBy tells whether a guard refuses a plan.
func refusedBy(p *plan.Plan, by plan.Guard) bool {
	return slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return r.Guard == by })
}

// withoutDeletions is the plan of a node that stays. taken are the objects that it, or
// another one, would take from nodes that go.
func withoutDeletions(p *plan.NodePlan, held *plan.Held, taken map[lynq.Ref]lynq.NodeKey, staying map[lynq.NodeKey]bool) plan.NodePlan {
	next := *p
	next.Steps = slices.Clone(p.Steps)
	next.After = slices.DeleteFunc(slices.Clone(p.After), func(k lynq.NodeKey) bool { return !staying[k] })
	me := plan.NewOwner(p.Key(), p.Hub, p.Inventory)
	for i := range next.Steps {
		s := &next.Steps[i]
		why := ""
		switch {
		case s.Action == plan.ActionSkip, s.Action == plan.ActionKeep, s.Action == plan.ActionBlock:
		case s.Object == nil && s.To == (lynq.NodeKey{}):
			why = "lynqctl keeps its entry: deletions are held (" + held.Guards() + ")"
		case takes(me, s, taken):
			why = keptByNode(taken[s.Object.Ref], held)
		}
		if why != "" {
			holdStep(s, why)
		}
	}
	return next
}

// leavesWhole tells whether a node goes, and goes on by no other name.
func leavesWhole(n *plan.NodePlan) bool { return n.Desired == nil && !n.Moves() }

// holdingOn are the rules of a plan without its deletions: a node that would go gives
// nothing away.
func (d *decider) holdingOn(nodes []plan.NodePlan) *decider {
	next := *d
	next.holding, next.unknown = true, map[lynq.NodeKey]bool{}
	for k := range d.unknown {
		next.unknown[k] = true
	}
	for i := range nodes {
		if leavesWhole(&nodes[i]) {
			next.unknown[nodes[i].Key()] = true
		}
	}
	return &next
}

// heldBack is what a plan without its deletions leaves out.
func heldBack(p *plan.Plan) *plan.Held {
	h := &plan.Held{Refusals: p.Refusals}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		switch {
		case leavesWhole(n) && (len(n.Steps) == 0 || slices.ContainsFunc(n.Steps, leavesOrRuns)):
			h.Nodes = append(h.Nodes, n.Key())
		case !leavesWhole(n) && slices.ContainsFunc(n.Steps, leaves):
			h.Partly = append(h.Partly, n.Key())
		}
		for j := range n.Steps {
			switch s := &n.Steps[j]; {
			case s.Object != nil:
			case s.Action == plan.ActionDelete, s.Action == plan.ActionCollect:
				h.Deleted++
			case s.Action == plan.ActionOrphan:
				h.Orphaned++
			}
		}
	}
	if refusedBy(p, plan.GuardEmpty) {
		for i := range p.Leaving {
			h.Nodes = append(h.Nodes, p.Leaving[i].Key())
		}
	}
	byName := func(a, b lynq.NodeKey) int { return strings.Compare(a.String(), b.String()) }
	slices.SortFunc(h.Nodes, byName)
	slices.SortFunc(h.Partly, byName)
	h.Digest = changeDigest(p, h)
	return h
}

// leaves tells whether an object leaves its node with a step: it is deleted or orphaned.
// What is let go is gone, or another's already.
func leaves(s plan.Step) bool {
	return s.Object == nil && (s.Action == plan.ActionDelete || s.Action == plan.ActionCollect || s.Action == plan.ActionOrphan)
}

// leavesOrRuns tells whether a step of a node that goes does anything.
func leavesOrRuns(s plan.Step) bool {
	return s.Action != plan.ActionSkip && s.Action != plan.ActionKeep
}

// changeDigest identifies the deletions of a plan, so that who approves them approves these
// and no others: the hub, the guards that refuse, the nodes that go by the identity of
// their rows, and each object that is deleted or orphaned, with its uid.
//
// It is of the change, and not of the rows: between the look at what is held and the run
// that carries it out other columns may change, and rows may come, which no guard has
// anything against; and the same rows may mean other deletions after a form has changed.
// One more row that goes, or another object, is another digest.
func changeDigest(p *plan.Plan, h *plan.Held) string {
	lines := []string{}
	going := map[lynq.NodeKey]bool{}
	for _, k := range h.Nodes {
		going[k] = true
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if going[n.Key()] {
			lines = append(lines, fmt.Sprintf("node %s %s %q", n.Key(), n.Form, n.UID))
		}
		for _, s := range n.Steps {
			if !leaves(s) {
				continue
			}
			what := "delete"
			if s.Action == plan.ActionOrphan {
				what = "orphan"
			}
			lines = append(lines, fmt.Sprintf("%s %s of %s %s", what, s.Entry.Full(), n.Key(), s.UID()))
		}
	}
	for i := range p.Leaving {
		if l := &p.Leaving[i]; going[l.Key()] {
			lines = append(lines, fmt.Sprintf("leaving %s %s %q", l.Key(), l.Form, l.UID))
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256(fmt.Appendf(nil, "hub %s\nguards %s\n%s", p.Hub, h.Guards(), strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:16])
}

// UntilRead is a plan without its deletions: they wait for another reading of the files.
func UntilRead(p *plan.Plan) *plan.Plan {
	next := *p
	next.Refusals = []plan.Refusal{{Guard: plan.GuardReading, Hub: p.Hub}}
	return WithoutDeletions(&next)
}
