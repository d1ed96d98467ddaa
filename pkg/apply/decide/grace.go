package decide

import (
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// grace returns the grace period of an inventory's form. An old inventory lacks the form's
// namespace. The longest period of the possible forms counts then.
func (d *Desired) grace(inv *inventory.Inventory) time.Duration {
	var longest time.Duration
	for form, period := range d.Grace {
		if ofForm(inv, form) {
			longest = max(longest, period)
		}
	}
	return longest
}

// leavingSince returns the start of an inventory's grace period.
func (r *Recorded) leavingSince(ledger graceLedger, inv *inventory.Inventory, now time.Time) time.Time {
	known := inv.Created
	if r.LastRun.After(known) {
		known = r.LastRun
	}
	return graceMarks{Inventory: inv.LeavingSince, Hub: ledger.Of(inv.Node.Key())}.Since(now, known)
}

// rests reports whether a node is in its grace period, and its records are already up to
// date. Then a plan of some nodes can skip it.
func (in *Input) rests(ledger graceLedger, inv *inventory.Inventory) bool {
	period := in.Desired.grace(inv)
	if period == 0 || inv.LeavingSince.IsZero() || ledger.Of(inv.Node.Key()).IsZero() {
		return false
	}
	since := in.Recorded.leavingSince(ledger, inv, in.Now)
	return !graceOver(since, period, in.Now) && inv.LeavingSince.Equal(since) && inv.LeavingUntil.Equal(graceUntil(since, period))
}

// judgeGrace finds the nodes in their grace period, before any deletion is planned.
func (d *decider) judgeGrace() {
	d.leaves = map[lynq.NodeKey]*plan.Leaving{}
	d.ledger = newGraceLedger(d.in.Recorded.Leaving)
	var over []*inventory.Inventory
	for _, inv := range d.in.Recorded.Inventories {
		if !d.mayBeKept(inv) || d.suspended(inv.Node.Key()) != nil {
			continue
		}
		period := d.in.Desired.grace(inv)
		since := d.in.Recorded.leavingSince(d.ledger, inv, d.in.Now)
		if graceOver(since, period, d.in.Now) {
			over = append(over, inv)
			continue
		}
		d.keepFor(inv, since, graceUntil(since, period))
	}
	d.keepDependedOn(over)
}

// mayBeKept reports whether a grace period may keep a node. It has no row, or another node
// continues it and leaves objects behind.
func (d *decider) mayBeKept(inv *inventory.Inventory) bool {
	key := inv.Node.Key()
	if r := d.renamed[key]; r != nil {
		return r.now != nil && d.in.Desired.grace(inv) > 0 && d.leavesBehind(inv)
	}
	return !d.in.Scope.Delete[key] && d.gone(inv) && d.claims.Node(inv) == nil // the row may still exist
}

// keepFor keeps a node until a time.
func (d *decider) keepFor(inv *inventory.Inventory, since, until time.Time) {
	begins := inv.LeavingSince.IsZero() || d.ledger.Of(inv.Node.Key()).IsZero()
	d.leaves[inv.Node.Key()] = &plan.Leaving{NodeID: inv.Node, Inventory: inv, Since: since, Until: until, Period: d.in.Desired.grace(inv), Begins: begins}
}

// keepDependedOn keeps nodes as long as their dependents (dependForms), direct or not.
func (d *decider) keepDependedOn(over []*inventory.Inventory) {
	rows := map[string][]*plan.Leaving{}
	for _, l := range d.leaves {
		rows[l.UID] = append(rows[l.UID], l)
	}
	for grown := true; grown; {
		grown = false
		over = slices.DeleteFunc(over, func(inv *inventory.Inventory) bool {
			var until time.Time
			for _, l := range rows[inv.Node.UID] {
				if dependsOnForm(l.Inventory, inv.Node.Form.Name) && l.Until.After(until) {
					until = l.Until
				}
			}
			if until.IsZero() {
				return false
			}
			d.keepFor(inv, d.in.Recorded.leavingSince(d.ledger, inv, d.in.Now), until)
			rows[inv.Node.UID] = append(rows[inv.Node.UID], d.leaves[inv.Node.Key()])
			grown = true
			return true
		})
	}
}

// planLeaving sets the kept nodes of a plan, and the new list for the hub record.
//
// It drops a node with a row, whatever happens to the node in this run, so that its next
// grace period starts again. It keeps deleted nodes, and nodes that this run doesn't judge,
// while they have an inventory.
func (d *decider) planLeaving(p *plan.Plan) {
	next := graceLedger{}
	keep := func(k lynq.NodeKey) { next.Set(k, d.ledger.Of(k)) }
	for _, inv := range d.in.Recorded.Inventories {
		key := inv.Node.Key()
		l := d.leaves[key]
		switch {
		case d.in.Scope.Sharded && !d.in.Scope.Plans(key):
			keep(key) // the run of its own shard notes the time
		case l != nil:
			p.Leaving = append(p.Leaving, *l)
			if keep(key); d.ledger.Of(key).IsZero() {
				next.Set(key, l.Since)
			}
		case d.nodes[key] != nil, d.renamed[key] != nil && d.renamed[key].now != nil, d.misnamed.recorded[key], d.gone(inv) && d.claims.Node(inv) != nil:
		default:
			keep(key)
		}
	}
	for key := range d.in.Recorded.Broken {
		if d.nodes[key] == nil {
			keep(key)
		}
	}
	slices.SortFunc(p.Leaving, func(a, b plan.Leaving) int { return strings.Compare(a.String(), b.String()) })
	p.LeavingRecord = next.Recorded()
}

// notLeaving requires that the object's node isn't in its grace period.
func notLeaving(d *decider, q *question) *answer {
	if l := d.leaves[q.me.NodeKey]; l != nil {
		return keep(plan.ReasonGrace, "its node is kept until "+l.Until.UTC().Format(time.RFC3339)+" (deletionGracePeriod)")
	}
	return nil
}
