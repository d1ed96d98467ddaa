package decide

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// adopting decides who owns an existing object.
type adopting struct{ d *decider }

// contested plans an object that a node wants and that another tool, controller or
// node has, or that the node may not adopt: it is a conflict, or is taken over. False
// means that the object is the node's, or nothing's and to be adopted.
func (a adopting) contested(me plan.Owner, s *plan.Step) bool {
	policy, said := a.adoption(s.Object.Policy)
	who := a.d.foreign(me, s.Live)
	switch {
	case who == "" && (policy != lynq.AdoptNever || a.proof(me, s.Entry, s.Live) != nil || a.takesBack(s.Live)):
		return false
	case who == "":
		s.Action, s.Reason = plan.ActionBlock, reason.Unowned
		s.Message = fmt.Sprintf("%s (%s)", unproven(me, s.Entry, s.Live), said)
	case policy != lynq.AdoptAlways:
		s.Action, s.Reason = plan.ActionBlock, reason.Foreign
		s.Message = fmt.Sprintf("it belongs to %s (%s)", who, said)
	case a.d.in.KeepContent: // the run that takes it must also write its content
		s.Action, s.Reason = plan.ActionBlock, reason.Foreign
		s.Message = fmt.Sprintf("it belongs to %s (%s takes it over at the next apply, with its content)", who, said)
	default:
		s.Action, s.Reason, s.Message = plan.ActionAdopt, reason.Takeover, "taken from "+who
	}
	return true
}

// adoption is the adoption policy that counts, and how it came about. Of one that
// adopts less than it could it says how to have more adopted.
func (a adopting) adoption(p *lynq.Policy) (policy lynq.AdoptionPolicy, said string) {
	policy = p.Adopts()
	switch {
	case a.d.in.AdoptNothing && policy != lynq.AdoptNever:
		return lynq.AdoptNever, "--adopt=never; without it adoptionPolicy " + string(policy) + " counts"
	case policy == lynq.AdoptNever:
		return policy, "adoptionPolicy Never; IfUnowned adopts objects without an owner, Always takes over any object"
	case p.Adoption == "" && policy == lynq.AdoptIfUnowned:
		return policy, "set conflictPolicy: Force to take it over"
	case p.Adoption == "":
		return policy, "conflictPolicy Force"
	case policy == lynq.AdoptIfUnowned:
		return policy, "set adoptionPolicy: Always to take it over"
	}
	return policy, "adoptionPolicy Always"
}

// proof is the record by which an object is the node's: it has the node's tracking,
// and the record names it, with its uid or as what a run that was killed meant to
// write. Or another node that is known has it in that way and gives it to this one.
// Neither tracking nor a record proves anything alone: whoever may write the object
// may copy the one, whoever may write ConfigMaps the other.
func (a adopting) proof(me plan.Owner, r *inventory.Entry, l *tracking.Live) *inventory.Entry {
	if r != nil && me.Tracks(l) && (r.UID == "" || r.UID == string(l.UID)) {
		return r
	}
	return a.given(me, l)
}

// given is the record of another node that has an object and gives it away.
func (a adopting) given(me plan.Owner, l *tracking.Live) *inventory.Entry {
	if r := a.d.givenBeside(l); r != nil {
		return r
	}
	k := a.d.giver(l)
	if k == me.NodeKey || !a.d.givesAway(k, l.Ref) {
		return nil
	}
	r, found := inventory.Find(a.d.inventories[k].Entries, l.Ref)
	if !found || r.UID != string(l.UID) {
		return nil
	}
	return &r
}

// giver is the node that has an object by its tracking.
func (d *decider) giver(l *tracking.Live) lynq.NodeKey {
	if l.Node == "" {
		return d.applySets[l.PartOf]
	}
	return l.Labelled()
}

// givenBeside is the record of a node of another hub of the run that has an object and gives
// it away, nil for none.
func (d *decider) givenBeside(l *tracking.Live) *inventory.Entry {
	if d.in.KeepContent {
		return nil // a run that moves an object also writes its content
	}
	for _, b := range d.beside {
		k := b.giver(l)
		if inv := b.inventories[k]; inv == nil || !b.owner(k).Tracks(l) || !b.givesAway(k, l.Ref) {
			continue
		}
		if r, found := inventory.Find(b.inventories[k].Entries, l.Ref); found && r.UID == string(l.UID) {
			return &r
		}
	}
	return nil
}

// movesFrom says which node gives an object away.
func (d *decider) movesFrom(l *tracking.Live) string {
	for _, b := range d.beside {
		if k := b.giver(l); b.inventories[k] != nil && b.owner(k).Tracks(l) {
			return "moves from node " + k.String() + " of hub " + b.in.Hub.String()
		}
	}
	return "moves from node " + d.giver(l).String()
}

// wantedBeside is another hub of the run that has a node which renders an object, nil for none.
func (d *decider) wantedBeside(ref lynq.Ref) *decider {
	for _, b := range d.beside {
		if _, wanted := b.desired[ref]; wanted {
			return b
		}
	}
	return nil
}

// takesBack tells whether a person said to take an orphan back, whatever the policy
// says.
func (a adopting) takesBack(l *tracking.Live) bool { return a.d.in.TakeBack && l.Orphaned }

// unproven says of an object that nothing else has why it is not the node's.
func unproven(me plan.Owner, r *inventory.Entry, l *tracking.Live) string {
	switch {
	case l.Orphaned:
		return "it is an orphan: lynqctl orphans adopt manages it again"
	case me.Tracks(l) && r == nil:
		return "it has this node's labels, but no inventory has an entry for it: lynqctl inventory rebuild records it"
	case me.Tracks(l):
		return "it isn't the recorded object: somebody deleted it and created it again"
	case r != nil && r.UID == string(l.UID):
		return "it is recorded, but no longer has this node's labels"
	}
	return "it existed before"
}

// settled tells whether an object was created once, so that its content is left alone
// from then on. What is recorded decides, where it names this very object and the
// write was confirmed: annotations get lost, by kubectl replace for one. Else the
// annotation does, on what is the node's by its tracking or its record, or an orphan:
// alone it says nothing, for it may be a copy.
func (a adopting) settled(me plan.Owner, o *plan.Object, r *inventory.Entry, l *tracking.Live) bool {
	if !o.Policy.Creation.Once() {
		return false
	}
	if r == nil {
		r = a.given(me, l)
	}
	recorded := r != nil && r.UID == string(l.UID)
	if recorded && r.Creation.Once() && r.Digest != "" {
		return true
	}
	return l.CreatedOnce && (recorded || l.Orphaned || me.Tracks(l))
}

// adopted tells whether an object that a step writes or keeps was there before the
// node had it. What is recorded of this very object decides; the annotation does
// where there is no record, or one of another object, or where the policy takes away what
// the form does not have.
func (a adopting) adopted(me plan.Owner, s *plan.Step) bool {
	r, l := s.Entry, s.Live
	if l == nil || l.Deleting {
		return false
	}
	alone := s.Action == plan.ActionBlock || s.Action == plan.ActionSkip // it does not become the node's
	if r == nil || r.UID != string(l.UID) {
		if given := a.given(me, l); given != nil {
			r = given
		}
	}
	switch {
	case !alone && s.Object.Policy.DeletesDesired() && !l.Orphaned && a.proof(me, r, l) == nil:
		return true // an entry alone proves nothing: whoever may write ConfigMaps wrote it
	case r != nil && (r.UID == string(l.UID) || alone):
		// Whoever may write the record may not write the object.
		return r.Adopted || l.Adopted && !alone && s.Object.Policy.TakesAway()
	case alone:
		return false
	case l.Orphaned || me.Tracks(l):
		return l.Adopted || r != nil && r.Adopted
	}
	return true
}
