package decide

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Hold returns the plans of a run without the deletions of one hub, for these reasons. No
// node of the hub is deleted, and no object leaves its node. The hub's tombstones wait too,
// and no node of another hub takes an object from a node that stays. It is a pure function,
// and plans doesn't change.
//
//   - It drops every deleted node with all of its steps, so its hooks don't run either.
//   - It skips an object that a kept node no longer needs, and keeps its entry. It does
//     so whether the object would be deleted, orphaned or released. An object that
//     another kept node takes over isn't a deletion, and moves.
//   - It skips an object that one node renders and a deleted node still owns, because
//     taking it would begin that deletion.
//   - A node begins its grace period, unless no row is active. Then the source may be
//     broken, and no grace period begins.
//   - Everything else remains as planned. A row and a form request a recreation or a
//     purge, and no guard counts these.
//
// If a step of such a plan is decided again, the result isn't a deletion either.
func Hold(plans []plan.Plan, hub lynq.HubKey, why []plan.Refusal) []plan.Plan {
	i := slices.IndexFunc(plans, func(p plan.Plan) bool { return p.Hub == hub && !p.After })
	if i < 0 {
		return plans
	}
	held := withoutDeletions(&plans[i], why)
	var rest []plan.Plan
	for k := range plans {
		switch p := &plans[k]; {
		case k == i:
			rest = append(rest, *held)
		case p.Hub != hub && !p.After:
			rest = append(rest, *withoutTaking(p, &plans[i], held))
		case p.Hub != hub:
			rest = append(rest, *p)
		}
	}
	return rest
}

// UntilRead returns the reason to hold deletions until lynqctl has read rows or files again.
func UntilRead(hub lynq.HubKey) []plan.Refusal {
	return []plan.Refusal{{Guard: plan.GuardReading, Hub: hub}}
}

// Approve returns the plans of a run with the deletions of one hub, although guards refuse
// them. It drops the hub's tombstones, because an approval covers what it showed, and it
// showed none. It is a pure function, and plans doesn't change.
func Approve(plans []plan.Plan, hub lynq.HubKey) []plan.Plan {
	var approved []plan.Plan
	for _, p := range plans {
		switch {
		case p.Hub != hub:
		case p.After:
			continue
		default:
			p.Refusals = nil
		}
		approved = append(approved, p)
	}
	return approved
}

// withoutDeletions returns the plan of a hub without its deletions, see Hold.
func withoutDeletions(p *plan.Plan, why []plan.Refusal) *plan.Plan {
	next := *p
	next.Held, next.Refusals, next.Losses, next.Nodes = heldBack(p, why), nil, nil, nil
	if d := rulesOf(p); d != nil && refusedBy(why, plan.GuardEmpty) {
		next.Leaving, next.LeavingRecord = nil, d.in.Recorded.Leaving
	}
	taken := takenIn(p)
	staying := map[lynq.NodeKey]bool{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		staying[n.Key()] = !leavesWhole(n)
	}
	for i := range p.Nodes {
		if n := &p.Nodes[i]; !leavesWhole(n) {
			next.Nodes = append(next.Nodes, holdNode(n, next.Held, taken, staying))
		}
	}
	if d := rulesOf(p); d != nil {
		next.Rules = d.holdingOn(p.Nodes)
	}
	next.Count()
	return &next
}

// takenIn returns the objects that other nodes take from deleted nodes of a plan.
func takenIn(p *plan.Plan) map[lynq.Ref]lynq.NodeKey {
	taken := map[lynq.Ref]lynq.NodeKey{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		for j := range n.Steps {
			if s := &n.Steps[j]; leavesWhole(n) && s.To != nil {
				taken[s.Entry.Ref] = n.Key()
			}
		}
	}
	return taken
}

// withoutTaking changes a plan because another hub's plan in the same run holds its
// deletions. held replaces whole there. The nodes that held keeps give nothing to p. It is
// a pure function.
func withoutTaking(p, whole, held *plan.Plan) *plan.Plan {
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

// withBeside returns a hub's rules with b as the rules of b's hub beside it.
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

// takes reports whether a step writes an object of a deleted node.
func takes(me plan.Owner, s *plan.Step, taken map[lynq.Ref]lynq.NodeKey) bool {
	return s.Object != nil && taken[s.Object.Ref] != (lynq.NodeKey{}) && s.Live != nil && !me.Tracks(s.Live)
}

// holdStep makes a step do nothing.
func holdStep(s *plan.Step, why string) {
	s.Action, s.Reason, s.Message, s.To = plan.ActionSkip, plan.ReasonHeld, why, nil
}

// keptByNode says which node keeps an object.
func keptByNode(k lynq.NodeKey, h *plan.Held) string {
	return "node " + k.String() + " has it, and is kept: deletions are held (" + h.Guards() + ")"
}

// refusedBy reports whether a guard is among the refusals.
func refusedBy(refusals []plan.Refusal, by plan.Guard) bool {
	return slices.ContainsFunc(refusals, func(r plan.Refusal) bool { return r.Guard == by })
}

// holdNode returns the plan of a kept node. taken are the objects that nodes would
// take from deleted nodes.
func holdNode(p *plan.NodePlan, held *plan.Held, taken map[lynq.Ref]lynq.NodeKey, staying map[lynq.NodeKey]bool) plan.NodePlan {
	next := *p
	next.Steps = slices.Clone(p.Steps)
	next.After = slices.DeleteFunc(slices.Clone(p.After), func(k lynq.NodeKey) bool { return !staying[k] })
	me := plan.NewOwner(p.Key(), p.Hub, p.Inventory)
	for i := range next.Steps {
		s := &next.Steps[i]
		why := ""
		switch {
		case s.Action == plan.ActionSkip, s.Action == plan.ActionKeep, s.Action == plan.ActionBlock:
		case s.Object == nil && s.To == nil:
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

// leavesWhole reports whether lynqctl deletes a node and no other node continues it.
func leavesWhole(n *plan.NodePlan) bool { return n.Desired == nil && !n.Moves() }

// holdingOn returns the rules of a plan without its deletions. A node that would be deleted
// gives nothing away.
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

// heldBack returns the deletions that a plan without them leaves out, for these reasons.
func heldBack(p *plan.Plan, why []plan.Refusal) *plan.Held {
	h := &plan.Held{Refusals: why}
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
	if refusedBy(why, plan.GuardEmpty) {
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

// leaves reports whether a step deletes or orphans an object. A released object was deleted
// before, or belongs to another owner.
func leaves(s plan.Step) bool {
	return s.Object == nil && (s.Action == plan.ActionDelete || s.Action == plan.ActionCollect || s.Action == plan.ActionOrphan)
}

// leavesOrRuns reports whether a step of a deleted node does anything.
func leavesOrRuns(s plan.Step) bool {
	return s.Action != plan.ActionSkip && s.Action != plan.ActionKeep
}

// changeDigest identifies the deletions of a plan, so that an approval covers exactly
// these. It covers the hub, the refusing guards, the deleted nodes with their rows, and
// each deleted or orphaned object with its uid.
//
// It covers the deletions and not the rows. Until a run executes them, other columns may
// change and new rows may come, which no guard refuses. And after a change of a form, the
// same rows may mean other deletions. One more deleted row or object changes the digest.
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
