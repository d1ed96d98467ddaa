package plan

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// contested plans an object that a node wants and that another tool, controller or
// node has, or that the node may not adopt: it is a conflict, or is taken over. False
// means that the object is the node's, or nothing's and to be adopted.
func (d *decider) contested(me Owner, s *Step) bool {
	policy, said := d.adoption(s.Object.Policy)
	who := d.foreign(me, s.Live)
	switch {
	case who == "" && (policy != lynq.AdoptNever || d.proof(me, s.Entry, s.Live) != nil || d.takesBack(s.Live)):
		return false
	case who == "":
		s.Action, s.Reason = ActionBlock, ReasonUnowned
		s.Message = fmt.Sprintf("%s (%s)", me.unproven(s.Entry, s.Live), said)
	case policy != lynq.AdoptAlways:
		s.Action, s.Reason = ActionBlock, ReasonForeign
		s.Message = fmt.Sprintf("it belongs to %s (%s)", who, said)
	case d.KeepContent: // who takes it has to say what it is to be
		s.Action, s.Reason = ActionBlock, ReasonForeign
		s.Message = fmt.Sprintf("it belongs to %s (%s takes it at the next apply, with its content)", who, said)
	default:
		s.Action, s.Reason, s.Message = ActionAdopt, ReasonTakeover, "taken from "+who
	}
	return true
}

// adoption is the adoption policy that counts, and how it came about. Of one that
// adopts less than it could it says how to have more adopted.
func (d *decider) adoption(p *lynq.Policy) (policy lynq.AdoptionPolicy, said string) {
	policy = p.Adopts()
	switch {
	case d.AdoptNothing && policy != lynq.AdoptNever:
		return lynq.AdoptNever, "--adopt=never; without it adoptionPolicy " + string(policy) + " counts"
	case policy == lynq.AdoptNever:
		return policy, "adoptionPolicy Never; IfUnowned would adopt what nothing else has, Always would take it"
	case p.Adoption == "" && policy == lynq.AdoptIfUnowned:
		return policy, "conflictPolicy Stuck; Force would take it"
	case p.Adoption == "":
		return policy, "conflictPolicy Force"
	case policy == lynq.AdoptIfUnowned:
		return policy, "adoptionPolicy IfUnowned; Always would take it"
	}
	return policy, "adoptionPolicy Always"
}

// proof is the record by which an object is the node's: it has the node's tracking,
// and the record names it, with its uid or as what a run that was killed meant to
// write. Or another node that is known has it in that way and gives it to this one.
// Neither tracking nor a record proves anything alone: whoever may write the object
// may copy the one, whoever may write ConfigMaps the other.
func (d *decider) proof(me Owner, r *inventory.Entry, l *Live) *inventory.Entry {
	if r != nil && me.Tracks(l) && (r.UID == "" || r.UID == string(l.UID)) {
		return r
	}
	return d.given(me, l)
}

// given is the record of another node that has an object and gives it away.
func (d *decider) given(me Owner, l *Live) *inventory.Entry {
	k := NodeKey{l.NodeNamespace, l.Node}
	if l.Node == "" {
		k = d.applySets[l.PartOf]
	}
	if k == me.NodeKey || !d.givesAway(k, l.Ref) {
		return nil
	}
	r, found := inventory.Find(d.inventories[k].Entries, l.Ref)
	if !found || r.UID != string(l.UID) {
		return nil
	}
	return &r
}

// takesBack tells whether a person said to take an orphan back, whatever the policy
// says.
func (d *decider) takesBack(l *Live) bool { return d.TakeBack && l.Orphaned }

// unproven says of an object that nothing else has why it is not the node's.
func (me Owner) unproven(r *inventory.Entry, l *Live) string {
	switch {
	case l.Orphaned:
		return "it is an orphan, which lynqctl orphans adopt takes back"
	case me.Tracks(l) && r == nil:
		return "it has this node's tracking, and no inventory has an entry for it: lynqctl inventory rebuild records it"
	case me.Tracks(l):
		return "it is not the object that is recorded: it was deleted and made again"
	case r != nil && r.UID == string(l.UID):
		return "it is recorded, and does not have this node's tracking any more"
	}
	return "it was there before"
}

// settled tells whether an object was created once, so that its content is left alone
// from then on. What is recorded decides, where it names this very object and the
// write was confirmed: annotations get lost, by kubectl replace for one. Else the
// annotation does, on what is the node's by its tracking or its record, or an orphan:
// alone it says nothing, for it may be a copy.
func (d *decider) settled(me Owner, o *Object, r *inventory.Entry, l *Live) bool {
	if o.Policy.Creation != lynq.CreateOnce {
		return false
	}
	if r == nil {
		r = d.given(me, l)
	}
	recorded := r != nil && r.UID == string(l.UID)
	if recorded && r.Creation == lynq.CreateOnce && r.Digest != "" {
		return true
	}
	return l.CreatedOnce && (recorded || l.Orphaned || me.Tracks(l))
}

// annotated tells whether an object that is created once has the annotations that it
// is to have: nothing else would notice that they are lost.
func (o *Object) annotated(l *Live) bool {
	return l.CreatedOnce && l.ResourceID == o.ID && l.DeletionPolicy == o.Policy.Deletion
}

// adopted tells whether an object that a step writes or keeps was there before the
// node had it. What is recorded of this very object decides; the annotation does
// where there is no record, or one of another object.
func (d *decider) adopted(me Owner, s *Step) bool {
	r, l := s.Entry, s.Live
	if l == nil || l.Deleting {
		return false
	}
	alone := s.Action == ActionBlock || s.Action == ActionSkip // it does not become the node's
	if r == nil || r.UID != string(l.UID) {
		if given := d.given(me, l); given != nil {
			r = given
		}
	}
	switch {
	case !alone && s.Object.Policy.DeletesDesired() && !l.Orphaned && d.proof(me, r, l) == nil:
		return true // an entry alone proves nothing: whoever may write ConfigMaps wrote it
	case r != nil && (r.UID == string(l.UID) || alone):
		return r.Adopted
	case alone:
		return false
	case l.Orphaned || me.Tracks(l):
		return l.Adopted || r != nil && r.Adopted
	}
	return true
}
