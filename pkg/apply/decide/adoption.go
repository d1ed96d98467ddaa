package decide

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// adopting decides who owns an existing object.
type adopting struct{ d *decider }

// contested plans a desired object that another tool, controller or node owns, or that the
// node may not adopt. It is a conflict or a takeover. contested returns false if the object
// belongs to the node, or if the node may adopt it.
func (a adopting) contested(me plan.Owner, s *plan.Step) bool {
	policy, said := a.adoption(s.Object.Policy)
	who := a.d.foreign(me, s.Live)
	switch {
	case who == "" && (policy != lynq.AdoptNever || a.proof(me, s.Entry, s.Live) != nil || a.adoptsOrphan(s.Live)):
		return false
	case who == "":
		s.Action, s.Reason = plan.ActionBlock, plan.ReasonUnowned
		s.Message = fmt.Sprintf("%s (%s)", unproven(me, s.Entry, s.Live), said)
	case policy != lynq.AdoptAlways:
		s.Action, s.Reason = plan.ActionBlock, plan.ReasonForeign
		s.Message = fmt.Sprintf("it belongs to %s (%s)", who, said)
	case a.d.in.Options.KeepContent: // the run that takes it must also write its content
		s.Action, s.Reason = plan.ActionBlock, plan.ReasonForeign
		s.Message = fmt.Sprintf("it belongs to %s (%s takes it over at the next apply, with its content)", who, said)
	default:
		s.Action, s.Reason, s.Message = plan.ActionAdopt, plan.ReasonTakeover, "taken from "+who
	}
	return true
}

// adoption returns the adoption policy, and where it comes from. If the policy could adopt
// more, said is the way to do that.
func (a adopting) adoption(p *lynq.Policy) (policy lynq.AdoptionPolicy, said string) {
	policy = p.Adopts()
	switch {
	case a.d.in.Options.AdoptNothing && policy != lynq.AdoptNever:
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

// proof returns the entry which proves that an object belongs to the node, or nil. The
// object has the node's tracking, and the entry means this object. Or another known node owns the object that way and gives it to this
// one. Tracking or an entry alone prove nothing. Anybody who may write the object can copy
// the tracking, and anybody who may write ConfigMaps can forge the entry.
func (a adopting) proof(me plan.Owner, r *inventory.Entry, l *tracking.Live) *inventory.Entry {
	if r != nil && me.Tracks(l) && means(r, l) {
		return r
	}
	return a.given(me, l)
}

// means reports whether an entry means an object, and not another one of its name. It has
// the object's uid. If a run was killed before it recorded the uid, the entry has none, and
// the object proves that lynqctl wrote it. Otherwise a person may have copied another
// object of the node.
func means(r *inventory.Entry, l *tracking.Live) bool {
	return r.UID == string(l.UID) || r.UID == "" && l.Written()
}

// given returns the entry of another node that owns an object and gives it away, or nil.
func (a adopting) given(me plan.Owner, l *tracking.Live) *inventory.Entry {
	if r := a.d.givenBeside(l); r != nil {
		return r
	}
	if l.Node == "" && l.PartOf == me.PartOf {
		return nil // the node has the object already
	}
	k := a.d.giver(l)
	if k == me.NodeKey || !a.d.givesAway(k, l) {
		return nil
	}
	r, found := a.d.recordedAs(a.d.inventories[k], l)
	if !found {
		return nil
	}
	return &r
}

// giver returns the node that owns an object by its tracking.
func (d *decider) giver(l *tracking.Live) lynq.NodeKey {
	if l.Node == "" {
		return d.applySets()[l.PartOf]
	}
	return l.Labelled()
}

// givenBeside returns the entry of a node in another hub of the run that owns an object and
// gives it away, or nil.
func (d *decider) givenBeside(l *tracking.Live) *inventory.Entry {
	if d.in.Options.KeepContent {
		return nil // a run that moves an object also writes its content
	}
	for _, b := range d.beside {
		k := b.giver(l)
		if inv := b.inventories[k]; inv == nil || !b.owner(k).Tracks(l) || !b.givesAway(k, l) {
			continue
		}
		if r, found := b.recordedAs(b.inventories[k], l); found {
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

// wantedBeside returns another hub of the run with a node that renders an object, or nil.
func (d *decider) wantedBeside(ref lynq.Ref) *decider {
	for _, b := range d.beside {
		if _, wanted := b.desired()[ref]; wanted {
			return b
		}
	}
	return nil
}

// adoptsOrphan reports whether the user asked to adopt an orphan. That overrides the
// policy.
func (a adopting) adoptsOrphan(l *tracking.Live) bool {
	return a.d.in.Options.AdoptOrphans && l.Orphaned
}

// unproven says why an object without another owner doesn't belong to the node.
func unproven(me plan.Owner, r *inventory.Entry, l *tracking.Live) string {
	switch {
	case l.Orphaned:
		return "it is an orphan: lynqctl orphans adopt manages it again"
	case me.Tracks(l) && r == nil:
		return "it has this node's labels, but no inventory has an entry for it: lynqctl inventory rebuild records it"
	case me.Tracks(l) && r.UID == "":
		return notWritten
	case me.Tracks(l):
		return "it isn't the recorded object: somebody deleted it and created it again"
	case r != nil && r.UID == string(l.UID):
		return "it is recorded, but no longer has this node's labels"
	}
	return "it existed before"
}

// settled reports whether lynqctl created an object once and must leave its content alone.
// If the entry has the object's uid and its write was confirmed, the entry decides, because
// annotations get lost, for example by kubectl replace. Otherwise the annotation decides,
// if tracking or entry connect the object to the node, or it is an orphan. The annotation
// alone proves nothing, because it may be a copy.
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

// adopted reports whether an object of a step existed before the node owned it. The entry
// decides if it has the object's uid. The annotation decides without such an entry, or if
// the policy removes content that the form lacks.
func (a adopting) adopted(me plan.Owner, s *plan.Step) bool {
	r, l := s.Entry, s.Live
	if l == nil || l.Deleting {
		return false
	}
	alone := s.Action == plan.ActionBlock || s.Action == plan.ActionSkip // the node doesn't get it
	if r == nil || r.UID != string(l.UID) {
		if given := a.given(me, l); given != nil {
			r = given
		}
	}
	switch {
	case !alone && s.Object.Policy.DeletesDesired() && !l.Orphaned && a.proof(me, r, l) == nil:
		return true // an entry alone proves nothing, because anybody who may write ConfigMaps could have written it
	case r != nil && (r.UID == string(l.UID) || alone):
		// People who may write the entry may not be able to write the object.
		return r.Adopted || l.Adopted && !alone && s.Object.Policy.TakesAway()
	case alone:
		return false
	case l.Orphaned || me.Tracks(l):
		return l.Adopted || r != nil && r.Adopted
	}
	return true
}
