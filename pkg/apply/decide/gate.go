package decide

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// asker is the reason for a question to the gate.
type asker string

// The askers. Each deletes objects for another reason, and the gate applies the same rules
// to all of them.
const (
	askerNode      asker = "node"      // lynqctl deletes the node, or the node no longer renders the object
	askerPurge     asker = "purge"     // purgeOrder: the object did its work
	askerRecreate  asker = "recreate"  // patchStrategy recreate
	askerHook      asker = "hook"      // a deletion hook created the object
	askerTombstone asker = "tombstone" // a tombstone names the object
	askerPrune     asker = "prune"     // the user prunes the orphan
)

// question is one object with the facts about it. The decider knows the rest: all rows and
// forms of the files, exclusions and inventories.
type question struct {
	asker asker
	me    plan.Owner       // the node that asks, zero for tombstones and orphans
	entry *inventory.Entry // the entry of the object, or nil
	live  *tracking.Live   // the object as this run read it, or nil
	why   plan.Reason      // the reason for the deletion
	// adopted is set if the object existed before the node owned it.
	adopted bool
	// keeps is the deletion policy that counts.
	keeps lynq.DeletionPolicy
	// data is set if the object has data and the user didn't pass the flag to delete data.
	data bool
	// stone is the tombstone that asks, or nil.
	stone *lynq.Tombstone
}

func (q *question) ref() lynq.Ref { return q.entry.Ref }

// answer is the gate's answer. ActionDelete permits the deletion, and every other action
// happens instead.
type answer struct {
	Action  plan.Action
	Reason  plan.Reason
	Message string
	// To is the node that gets the object, and Elsewhere the other hub that renders it. See
	// plan.Step.
	To        *lynq.NodeKey
	Elsewhere *lynq.HubKey
}

// rule is one condition for the deletion of an object. It returns nil if the condition
// holds, and an answer otherwise.
type rule func(*decider, *question) *answer

// conditions returns the rules in their order. docs/applying.md has the same list for
// users.
func conditions() []rule {
	return []rule{
		notNarrowed, notSuspended, notLeaving, observed, madeByNode, notExcluded, noRecord, notRendered, notOtherwiseRendered, notClaimed, notHeld, notRelabelled,
		notGivenUp, isOurs, noOrphanOfOthers, sameObject, asLabelled, policyDeletes, noData,
	}
}

// gate decides whether lynqctl may delete an object. It is a pure function, and the only
// one that decides this.
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
		a.Message = "it " + q.live.Rare().Ending
	}
	return a
}

// keep returns the answer that changes neither the object nor its entry.
func keep(why plan.Reason, message string) *answer {
	return &answer{Action: plan.ActionSkip, Reason: why, Message: message}
}

// release returns the answer that drops the entry and doesn't change the object.
func release(message string) *answer {
	return &answer{Action: plan.ActionRelease, Reason: plan.ReasonTakenOver, Message: message}
}

// notNarrowed requires that no selector leaves objects out. Otherwise nobody knows which
// recorded objects it would have left out.
func notNarrowed(d *decider, q *question) *answer {
	if d.in.Scope.Narrowed && q.asker == askerNode {
		return &answer{Action: plan.ActionKeep, Reason: plan.ReasonLeftOut}
	}
	return nil
}

// observed requires that this run read the object. A kind that isn't served, a 403 or a
// timeout never justifies a deletion.
func observed(d *decider, q *question) *answer {
	if q.live != nil {
		return nil
	}
	if why := d.in.Options.GiveUp[q.ref()]; why != nil && q.ref().Namespace == q.me.Namespace {
		return keep(plan.ReasonUnknown, mayRefer(q.me, why))
	}
	s := plan.Step{Entry: q.entry, Reason: q.why}
	d.in.notSeen(&s)
	return &answer{Action: s.Action, Reason: s.Reason, Message: s.Message}
}

// mayRefer says why lynqctl keeps the inventory if the user gave up an object that this run
// couldn't read. The garbage collector deletes every object that refers to the inventory,
// now or later.
func mayRefer(me plan.Owner, why error) string {
	return fmt.Sprintf("this run cannot read it, and the garbage collector may delete it with the inventory: %v (let lynqctl read it, then run again. To leave it to the garbage collector: kubectl patch configmap %s -n %s --type=merge -p '{\"metadata\":{\"finalizers\":null}}')", why, inventory.Name(me.Name), me.Namespace)
}

// notExcluded requires that no exclusion matches the object.
func notExcluded(d *decider, q *question) *answer {
	if q.asker == askerPrune || q.asker == askerTombstone {
		return nil // Tombstones checks exclusions itself, and nothing excludes an orphan
	}
	if d.in.givenUp(q.ref()) {
		return nil
	}
	for _, name := range append([]lynq.Ref{q.ref()}, d.otherNames(q.ref(), q.live)...) {
		as := *q.entry
		as.Ref = name
		if why := d.excluded(q.me, &as); why != "" {
			return keep(plan.ReasonExcluded, why)
		}
	}
	return nil
}

// noRecord requires that the object isn't a record of lynqctl or of the operator.
func noRecord(_ *decider, q *question) *answer {
	switch {
	case !q.live.Record:
		return nil
	case q.asker == askerNode:
		return release(neverDeleted)
	}
	return keep("", neverTaken)
}

// notRendered requires that no row of any form or hub in the files renders the object, in
// or outside a narrowed run. The node's own resource may render an object to recreate or
// purge.
func notRendered(d *decider, q *question) *answer {
	other, rendered := d.desired()[q.ref()]
	of := d // the hub of that node
	if !rendered && q.asker != askerPrune && q.asker != askerTombstone {
		if b := d.wantedBeside(q.ref()); b != nil {
			of, other, rendered = b, b.desired()[q.ref()], true
		}
	}
	if rendered && other != q.me.NodeKey {
		if q.asker != askerNode {
			return keep(plan.ReasonRendered, "node "+other.String()+" renders it")
		}
		switch by := of.owner(other); {
		case of.leavesDone(other, q):
			return nil // the conditions about owners decide
		case of.in.Scope.Plans(other):
			a := release("node " + other.String() + " has it now")
			to := other
			a.To = &to
			return a
		case q.live != nil && by.Tracks(q.live) && !q.me.Tracks(q.live):
			return release("node " + other.String() + " has it now")
		}
		return keep(plan.ReasonRendered, "node "+other.String()+", which another run applies, takes it over: the next run drops its entry")
	}
	return d.in.Desired.Elsewhere.keeps(d, q)
}

// notClaimed requires that no row of any hub in the run that failed to render may need the
// object.
func notClaimed(d *decider, q *question) *answer {
	if row := d.claimant(q.ref()); row != nil {
		return keep(plan.ReasonRowUnknown, holdsUp(row))
	}
	return nil
}

// claimant returns the node of a row that failed to render and may need an object, or nil.
func (d *decider) claimant(ref lynq.Ref) *plan.Node {
	for _, of := range append([]*decider{d}, d.beside...) {
		if row := of.claims.Object(ref); row != nil {
			return row
		}
	}
	return nil
}

// notHeld requires that no other node outside this run owns the object too.
func notHeld(d *decider, q *question) *answer {
	if q.asker != askerNode && q.asker != askerHook {
		return nil
	}
	if other := d.holder(q.me, q.live); other != "" {
		return keep(plan.ReasonUnknown, "lynqctl keeps its entry: node "+other+", which this run does not touch, has it too")
	}
	return nil
}

// notRelabelled requires that the inventory and the object name the same hub.
func notRelabelled(_ *decider, q *question) *answer {
	if !q.me.Relabelled(q.live) {
		return nil
	}
	live, record := q.live.Hub, q.me.Hub.Name
	if live == record {
		live, record = q.me.LabelledHub(q.live), q.me.Hub.String()
	}
	return keep(plan.ReasonForeign, fmt.Sprintf("the object's labels say hub %s, and the inventory's say hub %s (restore the labels of the inventory)", live, record))
}

// notGivenUp requires that the user didn't ask to leave the object behind.
func notGivenUp(d *decider, q *question) *answer {
	if d.in.givenUp(q.ref()) && q.me.Tracks(q.live) && q.live.TakenOver() == "" {
		return &answer{Action: plan.ActionOrphan, Reason: plan.ReasonGivenUp}
	}
	return nil
}

// isOurs requires that the object has this node's tracking, and no other tool or user owns
// it.
func isOurs(d *decider, q *question) *answer {
	if q.asker == askerPrune || q.asker == askerTombstone {
		return nil // the mark of an orphan and the labels of a tombstone replace tracking
	}
	s := plan.Step{}
	if !releaseForeign(q.me, &s, q.live) {
		return nil
	}
	a := &answer{Action: s.Action, Reason: s.Reason, Message: s.Message}
	if who := d.foreign(q.me, q.live); s.Action == plan.ActionRelease && who != "" {
		a.Message = "it is now of " + who
	}
	if s.Action == plan.ActionRelease && d.in.givenUp(q.ref()) {
		a.Reason = plan.ReasonGivenUp
	}
	return a
}

// noOrphanOfOthers requires that a pruned object is still an orphan without an owner.
func noOrphanOfOthers(_ *decider, q *question) *answer {
	if q.asker == askerPrune && q.live.NoOrphan() != "" {
		return keep("", q.live.NoOrphan())
	}
	return nil
}

// notWritten is about an object with an entry that has no uid, because a run was killed.
const notWritten = "lynqctl didn't create it: the entry has no uid, and lynqctl manages no field of the object"

// sameObject requires that the entry means the object. An entry without a uid alone never
// permits a deletion, because a killed run may not have created the object.
func sameObject(_ *decider, q *question) *answer {
	r := q.entry
	switch {
	case q.asker == askerPrune || q.asker == askerTombstone:
		if r.UID != "" && r.UID != string(q.live.UID) {
			return keep("", remade)
		}
	case q.asker == askerNode && r.Purged():
		return release(remade)
	case means(r, q.live):
	case r.UID == "":
		return release(notWritten)
	default:
		return release(remade)
	}
	return nil
}

// asLabelled requires that the object has all labels of the tombstone and no inventory
// lists it.
func asLabelled(_ *decider, q *question) *answer {
	if q.stone == nil {
		return nil
	}
	differs := q.stone.Differs(q.live.Rare().Labels)
	switch l := q.live; {
	case l.PartOf != "":
		return keep("", "an inventory has it: its ApplySet is "+l.PartOf)
	case differs != "":
		return keep(plan.ReasonOtherLabels, "it isn't the expected object: "+differs)
	case l.TakenOver() != "":
		return keep(plan.ReasonForeign, "it belongs to "+l.TakenOver()+" (delete it with that tool)")
	case l.Unmanaged:
		return keep("", MarkedUnmanaged)
	case l.Deleting:
		return keep("", "it "+l.Rare().Ending)
	}
	return nil
}

// madeByNode requires that the node created the object, before lynqctl purges or recreates
// it.
func madeByNode(_ *decider, q *question) *answer {
	if q.adopted && (q.asker == askerPurge || q.asker == askerRecreate) {
		return keep(plan.ReasonUnowned, "it existed before the node adopted it, and may hold data that the form doesn't have")
	}
	return nil
}

// policyDeletes requires that the deletion policy permits the deletion. The policies of
// orphans and of a tombstone's objects don't count.
func policyDeletes(d *decider, q *question) *answer {
	switch q.asker {
	case askerNode:
		kept := q.keeps.Kept()
		// The node of a renamed form or row is neither deleted nor unchanged, so each of
		// the two policies can keep the object.
		renamed := q.why == plan.ReasonRenamed && kept.WhenNodeGoes
		if d.in.Options.Cascade == plan.CascadeOrphan || renamed || q.why.NodeStays() && kept.WhenDropped || !q.why.NodeStays() && kept.WhenNodeGoes {
			return &answer{Action: plan.ActionOrphan}
		}
	case askerRecreate:
		if q.keeps.Kept().Ever() {
			return keep("", "deletionPolicy "+string(q.keeps)+" counts until an apply records another")
		}
	}
	return nil
}

// noData requires that the object has no data, or that the user passed the flag to delete
// data.
func noData(_ *decider, q *question) *answer {
	if !q.data {
		return nil
	}
	how := map[asker]string{askerRecreate: "apply --include-data recreates it", askerPrune: "--include-data deletes it", askerTombstone: "--include-data deletes it"}
	return keep("", "it holds data ("+how[q.asker]+")")
}
