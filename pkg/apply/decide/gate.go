package decide

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/claim"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// asker is who asks the gate.
type asker string

// The askers. Each of them deletes objects for a reason of its own, and the gate asks
// all of them the same questions.
const (
	askerNode      asker = "node"      // the node leaves, or no longer renders the object
	askerPurge     asker = "purge"     // purgeOrder: the object did its work
	askerRecreate  asker = "recreate"  // patchStrategy recreate
	askerHook      asker = "hook"      // a deletion hook created the object
	askerTombstone asker = "tombstone" // a tombstone names the object
	askerPrune     asker = "prune"     // a person prunes the orphan
)

// question is one object, and what the gate judges it by. The rest of its knowledge is
// the decider's: all rows and forms of the inputs, exclusions, inventories.
type question struct {
	asker asker
	me    plan.Owner       // the node that asks, zero for tombstones and orphans
	entry *inventory.Entry // what records the object, nil where nothing does
	live  *tracking.Live   // as this run read it, nil where it did not see it
	why   reason.Reason    // why the object would be deleted
	// adopted: the object existed before the node had it.
	adopted bool
	// keeps is the policy that counts.
	keeps lynq.DeletionPolicy
	// data: the object holds data, and nobody said to delete that.
	data bool
	// stone is the tombstone that asks, nil for others.
	stone *lynq.Tombstone
}

func (q *question) ref() lynq.Ref { return q.entry.Ref }

// answer is what becomes of the object: ActionDelete is the gate's yes, and every other
// action is what happens instead.
type answer struct {
	Action  plan.Action
	Reason  reason.Reason
	Message string
	// To is the node that gets the object.
	To lynq.NodeKey
	// Elsewhere is the other hub that renders the object: see plan.Step.
	Elsewhere lynq.HubKey
}

// rule is one condition that an object must meet before lynqctl deletes it. It returns
// the answer where the condition does not hold, nil where it does.
type rule func(*decider, *question) *answer

// conditions are the rules, in the order in which they are asked. docs/applying.md has
// the same list for people.
func conditions() []rule {
	return []rule{
		notNarrowed, notLeaving, observed, madeByNode, notExcluded, noRecord, notRendered, notClaimed, notHeld, notRelabelled,
		notGivenUp, isOurs, noOrphanOfOthers, sameObject, asLabelled, policyDeletes, noData,
	}
}

// gate tells whether an object may be deleted. It is a pure function, the only one that
// decides this.
func (d *decider) gate(q *question) answer {
	for _, holds := range conditions() {
		if a := holds(d, q); a != nil {
			if a.Reason == "" {
				a.Reason = q.why
			}
			return *a
		}
	}
	a := answer{Action: plan.ActionDelete, Reason: q.why}
	if q.live.Deleting {
		a.Message = "it " + q.live.Ending
	}
	return a
}

// keep is the answer that leaves the object and its entry as they are.
func keep(why reason.Reason, message string) *answer {
	return &answer{Action: plan.ActionSkip, Reason: why, Message: message}
}

// release is the answer that drops the entry and leaves the object as it is.
func release(message string) *answer {
	return &answer{Action: plan.ActionRelease, Reason: reason.TakenOver, Message: message}
}

// notNarrowed: a selector leaves objects out, and nobody knows which of these it would
// have left.
func notNarrowed(d *decider, q *question) *answer {
	if d.in.Narrowed && q.asker == askerNode {
		return &answer{Action: plan.ActionKeep, Reason: reason.LeftOut}
	}
	return nil
}

// observed: this run read the object. A kind that is not served, a 403 or a timeout is
// never a ground to delete.
func observed(d *decider, q *question) *answer {
	if q.live != nil {
		return nil
	}
	if why := d.in.GiveUp[q.ref()]; why != nil && q.ref().Namespace == q.me.Namespace {
		return keep(reason.Unknown, mayRefer(q.me, why))
	}
	s := plan.Step{Entry: q.entry, Reason: q.why}
	d.notSeen(&s)
	return &answer{Action: s.Action, Reason: s.Reason, Message: s.Message}
}

// mayRefer says of an object that a person gave up, and that this run could not read, why
// the inventory stays: the garbage collector deletes whatever refers to it, now or later.
func mayRefer(me plan.Owner, why error) string {
	return fmt.Sprintf("this run cannot read it, and the garbage collector deletes it with the inventory where it refers to that: %v (let lynqctl read it, then run again; to leave it to the garbage collector: kubectl patch configmap %s -n %s --type=merge -p '{\"metadata\":{\"finalizers\":null}}')", why, inventory.Name(me.Name), me.Namespace)
}

// notExcluded: no exclusion matches the object.
func notExcluded(d *decider, q *question) *answer {
	if q.asker == askerPrune || q.asker == askerTombstone {
		return nil // Tombstones judges exclusions; nothing excludes an orphan
	}
	if why := d.excluded(q.me, q.entry); why != "" && !d.givenUp(q.ref()) {
		return keep(reason.Excluded, why)
	}
	return nil
}

// noRecord: the object is no record of lynqctl or of the operator.
func noRecord(_ *decider, q *question) *answer {
	switch {
	case !q.live.Record:
		return nil
	case q.asker == askerNode:
		return release(neverDeleted)
	}
	return keep("", neverTaken)
}

// notRendered: no row of any form of any hub of the inputs renders the object, in or
// outside of a narrowed run. Its own resource may render what is recreated or purged.
func notRendered(d *decider, q *question) *answer {
	other, rendered := d.desired[q.ref()]
	of := d // the hub of that node
	if !rendered && q.asker != askerPrune && q.asker != askerTombstone {
		if b := d.wantedBeside(q.ref()); b != nil {
			of, other, rendered = b, b.desired[q.ref()], true
		}
	}
	if rendered && other != q.me.NodeKey {
		if q.asker != askerNode {
			return keep(reason.Rendered, "node "+other.String()+" renders it")
		}
		switch by := of.owner(other); {
		case of.in.planned(other):
			a := release("node " + other.String() + " has it now")
			a.To = other
			return a
		case q.live != nil && by.Tracks(q.live) && !q.me.Tracks(q.live):
			return release("node " + other.String() + " has it now")
		}
		return keep(reason.Rendered, "node "+other.String()+", which another run applies, takes it over: the next run drops its entry")
	}
	return d.in.Elsewhere.keeps(d, q)
}

// notClaimed: no row that failed to render may want the object.
func notClaimed(d *decider, q *question) *answer {
	row := d.claims.Object(q.ref())
	if row != nil && (q.asker != askerNode || q.why.NodeStays()) {
		return keep(reason.RowUnknown, claim.HoldsUp(row))
	}
	return nil
}

// notHeld: no other node that this run does not touch has the object too.
func notHeld(d *decider, q *question) *answer {
	if q.asker != askerNode && q.asker != askerHook {
		return nil
	}
	if other := d.holder(q.me, q.live); other != "" {
		return keep(reason.Unknown, "lynqctl keeps its entry: node "+other+", which this run does not touch, has it too")
	}
	return nil
}

// notRelabelled: the inventory and the object agree about their hub.
func notRelabelled(_ *decider, q *question) *answer {
	if !q.me.Relabelled(q.live) {
		return nil
	}
	return keep(reason.Foreign, fmt.Sprintf("it belongs to the inventory, and label %s says hub %q: the inventory's labels were changed (restore them)", wellknown.LabelHub, q.live.Hub))
}

// notGivenUp: nobody said to leave the object behind.
func notGivenUp(d *decider, q *question) *answer {
	if d.givenUp(q.ref()) && q.me.Tracks(q.live) && q.live.TakenOver() == "" {
		return &answer{Action: plan.ActionOrphan, Reason: reason.GivenUp}
	}
	return nil
}

// isOurs: the object has this node's tracking, and no other tool or person has it.
func isOurs(d *decider, q *question) *answer {
	if q.asker == askerPrune || q.asker == askerTombstone {
		return nil // the orphan's mark, and the tombstone's labels, replace tracking
	}
	s := plan.Step{}
	if !releaseForeign(q.me, &s, q.live) {
		return nil
	}
	a := &answer{Action: s.Action, Reason: s.Reason, Message: s.Message}
	if who := d.foreign(q.me, q.live); s.Action == plan.ActionRelease && who != "" {
		a.Message = "it is now of " + who
	}
	if s.Action == plan.ActionRelease && d.givenUp(q.ref()) {
		a.Reason = reason.GivenUp
	}
	return a
}

// noOrphanOfOthers: what a person prunes is an orphan still, and has no owner.
func noOrphanOfOthers(_ *decider, q *question) *answer {
	if q.asker == askerPrune && q.live.NoOrphan() != "" {
		return keep("", q.live.NoOrphan())
	}
	return nil
}

// sameObject: the object is the one that is recorded, by its uid.
func sameObject(_ *decider, q *question) *answer {
	r := q.entry
	same := r.UID == "" || r.UID == string(q.live.UID)
	switch {
	case q.asker == askerPrune || q.asker == askerTombstone:
		if !same {
			return keep("", remade)
		}
	case !same, q.asker == askerNode && r.Purged():
		return release(remade)
	}
	return nil
}

// asLabelled: the object has all labels of the tombstone, and no inventory has it.
func asLabelled(_ *decider, q *question) *answer {
	if q.stone == nil {
		return nil
	}
	differs := q.stone.Differs(q.live.Labels)
	switch l := q.live; {
	case l.PartOf != "":
		return keep("", "an inventory has it: its ApplySet is "+l.PartOf)
	case differs != "":
		return keep(reason.OtherLabels, "it isn't the expected object: "+differs)
	case l.TakenOver() != "":
		return keep(reason.Foreign, "it belongs to "+l.TakenOver()+" (delete it with that tool)")
	case l.Unmanaged:
		return keep("", MarkedUnmanaged)
	case l.Deleting:
		return keep("", "it "+l.Ending)
	}
	return nil
}

// madeByNode: lynqctl purges and recreates only what the node itself created.
func madeByNode(_ *decider, q *question) *answer {
	if q.adopted && (q.asker == askerPurge || q.asker == askerRecreate) {
		return keep(reason.Unowned, "it existed before the node adopted it, and may hold data that the form doesn't have")
	}
	return nil
}

// policyDeletes: the deletion policy deletes the object. That of an orphan does not
// count, and neither does that of what a tombstone names.
func policyDeletes(d *decider, q *question) *answer {
	switch q.asker {
	case askerNode:
		kept := q.keeps.Kept()
		// The node of a renamed form or row neither leaves nor stays as it is: both policies keep.
		renamed := q.why == reason.Renamed && kept.WhenNodeGoes
		if d.in.Cascade == plan.CascadeOrphan || renamed || q.why.NodeStays() && kept.WhenDropped || !q.why.NodeStays() && kept.WhenNodeGoes {
			return &answer{Action: plan.ActionOrphan}
		}
	case askerRecreate:
		if q.keeps.Kept().Ever() {
			return keep("", "deletionPolicy "+string(q.keeps)+" counts until an apply records another")
		}
	}
	return nil
}

// noData: what holds data is deleted only where somebody said so.
func noData(_ *decider, q *question) *answer {
	if !q.data {
		return nil
	}
	how := map[asker]string{askerRecreate: "apply --include-data recreates it", askerPrune: "--include-data deletes it", askerTombstone: "--include-data deletes it"}
	return keep("", "it holds data ("+how[q.asker]+")")
}
