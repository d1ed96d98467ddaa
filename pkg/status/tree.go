package status

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/apply/verify"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Seen is an object as it is now, or why that is not known.
type Seen struct {
	lynq.Ref
	UID       types.UID
	Owner     types.UID // its controller, "" for none
	Created   time.Time
	Readiness ready.Readiness
	Stopped   bool  // another client scaled it to zero
	Unknown   error // why it could not be looked at
}

// Object is an object of a node as it is now, and below it what belongs to it.
type Object struct {
	Group     string    `json:"group,omitempty"`
	Kind      string    `json:"kind"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	ID        string    `json:"id,omitempty"`
	UID       types.UID `json:"uid,omitempty"`
	// State is Ready, Progressing, Degraded, Leaving, Orphaned, Excluded or Unknown, and Reason a
	// word for why, "" where the state says all.
	State   string    `json:"state"`
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	Created time.Time `json:"created,omitzero"`
	// LastRun is why the last run did not leave it as the node wants it, nil where
	// it did.
	LastRun *inventory.ObjectStatus `json:"lastRun,omitempty"`
	// Policies are those that it was written with, nil of what only belongs to
	// an object of the node.
	Policies *lynq.Lifecycle `json:"policies,omitempty"`
	Owned    []Object        `json:"owned,omitempty"`
}

// Ref names the object.
func (o *Object) Ref() lynq.Ref {
	return lynq.Ref{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Tree has the objects that an inventory has entries for, none before what it depends
// on, as they are now. What is not among those seen is not known. Below each is what
// belongs to it, and below that what belongs to that.
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
			known[s.UID] = true // so that each is there once
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
		s.Ref = r.Ref
		o := object(s, owned)
		o.ID, o.Policies = r.ID, &r.Lifecycle
		o.judge(inv, r, &s, troubles[r.Ref])
		if o.lastRun(inv.Status.Object(r.Ref)); !looked && o.State != Excluded && !r.Purged() {
			o.State, o.Reason = Unknown, ""
		}
		objects = append(objects, o)
	}
	return append(objects, unwritten(inv)...)
}

// judge says how an object of a node is that has such an entry, and maybe a trouble.
func (o *Object) judge(inv *inventory.Inventory, r *inventory.Entry, s *Seen, t *Trouble) {
	gone := s.Readiness.State == ready.StateGone
	switch {
	case r.Purged(), r.Phase == inventory.PhaseCompleted && gone:
		o.State, o.Reason, o.Message = Ready, string(r.Phase), ""
	case s.Unknown != nil || s.Readiness.State == ready.StateDeleting:
	case gone && (inv.Deleting || inv.Activate == inactive):
		o.State, o.Reason, o.Message = Leaving, "", "it is gone"
	case t != nil:
		o.State, o.Reason, o.Message = t.State, t.Reason, t.Message
		if !gone && s.Readiness.State != ready.StateReady && !strings.Contains(t.Message, s.Readiness.Message) {
			o.Message = join(o.Message, s.Readiness.Message)
		}
	case r.Hook(): // how far it is counts, not whether it is as recorded
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

// lastRun takes what the last run said of the object. What it is waited for is told
// by how it is now.
func (o *Object) lastRun(told *inventory.ObjectStatus) {
	if told == nil {
		return
	}
	o.LastRun = told
	if told.Reason == Excluded {
		o.State, o.Reason, o.Message = Excluded, "", told.Message
		return
	}
	if told.Reason == inventory.ObjectConflict && (o.Reason == ReasonDrifted || o.Reason == string(verify.Conflict)) {
		o.Reason, o.Message = told.Reason, told.Message // which names the fields, and who has them
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

// unwritten are the objects that a node wants and no run has written.
func unwritten(inv *inventory.Inventory) []Object {
	whole := inv.Status.Is(inventory.ConditionReady)
	var objects []Object
	for i := range inv.Status.Objects {
		told := &inv.Status.Objects[i]
		if whole && told.Reason != Excluded { // it is left alone on purpose
			continue
		}
		if slices.ContainsFunc(inv.All(), func(r inventory.Entry) bool { return r.Ref == told.Ref() }) {
			continue
		}
		o := Object{Group: told.Group, Kind: told.Kind, Namespace: told.Namespace, Name: told.Name, ID: told.ID, State: Unknown}
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

// object is one with what belongs to it, by kind and name. Owners that go round
// end where they began: each object is below one other at most, and is taken
// off before it is looked into.
func object(s Seen, owned map[types.UID][]Seen) Object {
	o := Object{
		Group: s.Group, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name,
		UID: s.UID, Message: s.Readiness.Message, Created: s.Created,
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

// stateOf is how an object is of which only the readiness is known.
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
		return Degraded, string(verify.Missing)
	}
	return Unknown, ""
}

// Condition is the object's state in a word or two, as a node's is.
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

// Tally counts the objects of a tree, not what belongs to them, by their states.
func Tally(objects []Object) map[string]int {
	counts := map[string]int{}
	for i := range objects {
		counts[objects[i].State]++
	}
	return counts
}
