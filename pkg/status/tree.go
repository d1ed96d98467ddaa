package status

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// Seen is an object as it is now, or the reason why its state is unknown.
type Seen struct {
	lynq.Ref
	UID       types.UID
	Owner     types.UID // its controller, or ""
	Created   time.Time
	Readiness ready.Readiness
	Stopped   bool  // another client scaled it to zero
	Unknown   error // why lynqctl couldn't read it
}

// Object is the current state of a node's object, with the objects that it owns.
type Object struct {
	lynq.RefFields
	ID  string    `json:"id,omitempty"`
	UID types.UID `json:"uid,omitempty"`
	// State is Ready, Progressing, Degraded, Leaving, Orphaned, Excluded or Unknown.
	// Reason says why in one word. It is empty if the state is enough.
	State   string    `json:"state"`
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	Created time.Time `json:"created,omitzero"`
	// LastRun says why the last run didn't finish the object. It is nil if the run did.
	LastRun *inventory.ObjectStatus `json:"lastRun,omitempty"`
	// Policies are the policies of the last write. They are nil for objects that only
	// belong to an object of the node.
	Policies *lynq.Lifecycle `json:"policies,omitempty"`
	Owned    []Object        `json:"owned,omitempty"`
}

// Tree returns the current state of the objects that an inventory lists, each after its
// dependencies. The state of an unseen object is unknown. Each object contains the objects
// that it owns, and these contain theirs.
func Tree(inv *inventory.Inventory, now *Now, seen map[lynq.Ref]Seen, belonging []Seen) []Object {
	entries := slices.SortedStableFunc(slices.Values(inv.All()), func(a, b inventory.Entry) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Key(), b.Key()))
	})
	owned := map[types.UID][]Seen{}
	known := map[types.UID]bool{}
	for _, s := range seen {
		known[s.UID] = true
	}
	for _, s := range belonging {
		if s.Owner != "" && s.UID != "" && !known[s.UID] {
			known[s.UID] = true // so that each appears once
			owned[s.Owner] = append(owned[s.Owner], s)
		}
	}
	troubles := map[lynq.Ref]*Trouble{}
	for _, t := range now.Troubles(inv) {
		troubles[t.Ref] = &t
	}
	objects := make([]Object, 0, len(entries))
	for i := range entries {
		r := &entries[i]
		s, looked := seen[r.Ref]
		s.Ref, s.Readiness = r.Ref, Conceal(r, s.Readiness)
		o := object(s, owned)
		if r.Sensitive {
			conceal(o.Owned)
		}
		o.ID, o.Policies = r.ID, &r.Lifecycle
		o.judge(inv, r, &s, troubles[r.Ref])
		if o.lastRun(inv.Status.Object(r.Ref)); !looked && o.State != Excluded && !r.Purged() {
			o.State, o.Reason = Unknown, ""
		}
		objects = append(objects, o)
	}
	return append(objects, unwritten(inv)...)
}

// judge sets the state of an object from its entry, and from its trouble if it has one.
func (o *Object) judge(inv *inventory.Inventory, r *inventory.Entry, s *Seen, t *Trouble) {
	gone := s.Readiness.State == ready.StateGone
	switch {
	case r.Purged(), gone && (r.Ended && kinds.MayEnd(r.Group, r.Kind) || r.Phase == inventory.PhaseCompleted):
		o.State, o.Reason, o.Message = Ready, string(inventory.PhaseCompleted), ""
	case s.Unknown != nil || s.Readiness.State == ready.StateDeleting:
	case gone && (inv.Deleting || inv.Activate == inactive):
		o.State, o.Reason, o.Message = Leaving, "", "it is gone"
	case t != nil:
		o.State, o.Reason, o.Message = t.State, t.Reason, t.Message
		if !gone && s.Readiness.State != ready.StateReady && !strings.Contains(t.Message, s.Readiness.Message) {
			o.Message = join(o.Message, s.Readiness.Message)
		}
	case r.Hook(): // a hook needs to complete, but may differ from its record
	case s.UID != "":
		if !r.Unwaited || s.Readiness.State == ready.StateReady {
			o.State, o.Reason = Ready, ""
		}
		if s.Stopped {
			o.Message = StoppedMessage
		}
		if r.Digest == "" {
			o.Message = join("the last write is not confirmed", o.Message)
		}
	}
}

// lastRun copies the last run's result for the object. It skips the wait for readiness,
// because the current state shows that.
func (o *Object) lastRun(told *inventory.ObjectStatus) {
	if told == nil {
		return
	}
	o.LastRun = told
	if told.Reason == Excluded {
		o.State, o.Reason, o.Message = Excluded, "", told.Message
		return
	}
	if told.Reason == inventory.ObjectConflict && (o.Reason == ReasonDrifted || o.Reason == string(Conflict)) {
		o.Reason, o.Message = told.Reason, told.Message // the message names the fields and their managers
		return
	}
	waited := !told.Since.IsZero() || told.Reason == inventory.ObjectInterrupted
	if o.State == Degraded || o.State == Progressing || waited {
		return
	}
	if slices.Contains([]string{inventory.ObjectConflict, inventory.ObjectDependencyFailed, inventory.ObjectFailed}, told.Reason) {
		o.State, o.Reason, o.Message = Degraded, told.Reason, join(told.Message, o.Message)
		return
	}
	o.Message = join(told.Reason+": "+told.Message, o.Message)
}

// unwritten returns the objects that a node wants and no run has written.
func unwritten(inv *inventory.Inventory) []Object {
	whole := inv.Status.Is(inventory.ConditionReady)
	var objects []Object
	for i := range inv.Status.Objects {
		told := &inv.Status.Objects[i]
		if whole && told.Reason != Excluded { // a rule skips it on purpose
			continue
		}
		if slices.ContainsFunc(inv.All(), func(r inventory.Entry) bool { return r.Ref == told.Ref() }) {
			continue
		}
		o := Object{RefFields: told.RefFields, ID: told.ID, State: Unknown}
		if o.lastRun(told); told.Reason == inventory.ObjectInterrupted {
			o.State, o.Message = Progressing, told.Message
		}
		objects = append(objects, o)
	}
	return objects
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	if a == "" {
		return b
	}
	return a + "; " + b
}

// object returns an object with the objects that it owns, by kind and name. It removes
// each owner's list before it descends. So owners that form a cycle end the recursion.
func object(s Seen, owned map[types.UID][]Seen) Object {
	o := Object{
		RefFields: lynq.RefFields(s.Ref),
		UID:       s.UID, Message: s.Readiness.Message, Created: s.Created,
	}
	o.State, o.Reason = stateOf(s.Readiness.State)
	if s.Unknown != nil {
		o.State, o.Message = Unknown, s.Unknown.Error()
	}
	below := owned[s.UID]
	delete(owned, s.UID)
	slices.SortFunc(below, func(a, b Seen) int {
		return cmp.Or(cmp.Compare(a.GroupKind(), b.GroupKind()), cmp.Compare(a.Name, b.Name))
	})
	for _, b := range below {
		o.Owned = append(o.Owned, object(b, owned))
	}
	return o
}

// stateOf returns the state of an object whose readiness alone is known.
func stateOf(s ready.State) (state, reason string) {
	switch s {
	case ready.StateReady:
		return Ready, ""
	case ready.StateWaiting:
		return Progressing, ""
	case ready.StateDeleting:
		return Leaving, ""
	case ready.StateFailed:
		return Degraded, ReasonNotReady
	case ready.StateGone:
		return Degraded, string(Missing)
	}
	return Unknown, ""
}

// Condition returns the object's state and reason, in the form that nodes have.
func (o *Object) Condition() string {
	if o.Reason == "" {
		return o.State
	}
	return o.State + ": " + o.Reason
}

// States lists the states of objects, the best first.
func States() []string {
	return []string{Ready, Progressing, Degraded, Leaving, Orphaned, Excluded, Unknown}
}

// Tally counts the objects of a tree by state, without the objects that they own.
func Tally(objects []Object) map[string]int {
	counts := map[string]int{}
	for i := range objects {
		counts[objects[i].State]++
	}
	return counts
}
