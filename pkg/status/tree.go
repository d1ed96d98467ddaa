package status

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// StateUnknown is the state of an object that could not be looked at.
const StateUnknown ready.State = "unknown"

// StateSkipped is the state of an object that the last run did not write, and no run
// before it.
const StateSkipped ready.State = "skipped"

// Seen is an object as it is now, or why that is unknown.
type Seen struct {
	lynq.Ref
	UID     types.UID
	Owner   types.UID // its controller, "" for none
	Created time.Time
	State   ready.State
	Message string
}

// Object is an object of a node as it is now, and below it what belongs to it.
type Object struct {
	Group     string      `json:"group,omitempty"`
	Kind      string      `json:"kind"`
	Namespace string      `json:"namespace,omitempty"`
	Name      string      `json:"name"`
	ID        string      `json:"id,omitempty"`
	UID       types.UID   `json:"uid,omitempty"`
	State     ready.State `json:"state"`
	Message   string      `json:"message,omitempty"`
	Created   time.Time   `json:"created,omitzero"`
	// LastRun is why the last run did not leave it as the node wants it, nil where
	// it did.
	LastRun *inventory.ObjectStatus `json:"lastRun,omitempty"`
	// Policies are those that it was written with, nil of what only belongs to
	// an object of the node.
	Policies *Policies `json:"policies,omitempty"`
	Owned    []Object  `json:"owned,omitempty"`
}

// Policies are those that an object was written with.
type Policies struct {
	Creation lynq.CreationPolicy `json:"creation"`
	Deletion lynq.DeletionPolicy `json:"deletion"`
	Conflict lynq.ConflictPolicy `json:"conflict"`
	Patch    lynq.PatchStrategy  `json:"patch"`
}

// PoliciesOf are those of a record.
func PoliciesOf(r *inventory.Entry) *Policies {
	return &Policies{Creation: r.Creation, Deletion: r.Deletion, Conflict: r.Conflict, Patch: r.Patch}
}

// Unusual are the policies that are not the default, as people write them.
func (p *Policies) Unusual() []string {
	var words []string
	add := func(word, usual string) {
		if word != usual {
			words = append(words, word)
		}
	}
	usual := lynq.DefaultPolicy()
	add(string(p.Creation), string(usual.Creation))
	add(string(p.Deletion), string(usual.Deletion))
	add(string(p.Conflict), string(usual.Conflict))
	add(string(p.Patch), string(usual.Patch))
	return words
}

// Ref names the object.
func (o *Object) Ref() lynq.Ref {
	return lynq.Ref{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Tree has the objects that an inventory records, none before what it depends
// on. What is not among those seen is not known. Below each is what belongs to
// it, and below that what belongs to that.
func Tree(inv *inventory.Inventory, seen map[lynq.Ref]Seen, belonging []Seen) []Object {
	entries := slices.SortedStableFunc(slices.Values(inv.Entries), func(a, b inventory.Entry) int {
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
	objects := make([]Object, 0, len(entries))
	for i := range entries {
		r := &entries[i]
		o := object(recorded(r, seen), owned)
		o.ID = r.ID
		o.Policies = PoliciesOf(r)
		o.lastRun(inv.Status.Object(r.Ref))
		objects = append(objects, o)
	}
	return append(objects, skipped(inv)...)
}

// lastRun takes what the last run said of the object. What it is waited for is told
// by how it is now.
func (o *Object) lastRun(told *inventory.ObjectStatus) {
	if told == nil {
		return
	}
	o.LastRun = told
	if o.State != ready.StateWaiting && o.State != ready.StateFailed && told.Since.IsZero() && told.Reason != inventory.ObjectInterrupted {
		o.Message = join(told.Reason+": "+told.Message, o.Message)
	}
}

// skipped are the objects that a node wants and no run has written.
func skipped(inv *inventory.Inventory) []Object {
	if inv.Status.Is(inventory.ConditionReady) {
		return nil // those are left alone on purpose
	}
	var objects []Object
	for i := range inv.Status.Objects {
		told := &inv.Status.Objects[i]
		if slices.ContainsFunc(inv.Entries, func(r inventory.Entry) bool { return r.Ref == told.Ref() }) {
			continue
		}
		o := Object{Group: told.Group, Kind: told.Kind, Namespace: told.Namespace, Name: told.Name, ID: told.ID, State: StateSkipped}
		o.lastRun(told)
		objects = append(objects, o)
	}
	return objects
}

// recorded is what is known of a recorded object now.
func recorded(r *inventory.Entry, seen map[lynq.Ref]Seen) Seen {
	s, ok := seen[r.Ref]
	switch {
	case !ok:
		return Seen{Ref: r.Ref, State: StateUnknown}
	case s.State == ready.StateGone && r.UID == "":
		s.Message = "no run has written it yet"
	case s.State == ready.StateGone:
		s.Message = "it was deleted: apply creates it again"
	case s.UID != "" && r.UID != "" && string(s.UID) != r.UID:
		s.Message = join("the recorded object was deleted, and another was created", s.Message)
	case s.UID != "" && r.Digest == "":
		s.Message = join("the last write is not confirmed", s.Message)
	}
	return s
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}

// object is one with what belongs to it, by kind and name. Owners that go round
// end where they began: each object is below one other at most, and is taken
// off before it is looked into.
func object(s Seen, owned map[types.UID][]Seen) Object {
	o := Object{
		Group: s.Group, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name,
		UID: s.UID, State: s.State, Message: s.Message, Created: s.Created,
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

// Tally counts the objects of a tree, not what belongs to them, by their states.
func Tally(objects []Object) map[ready.State]int {
	counts := map[ready.State]int{}
	for i := range objects {
		counts[objects[i].State]++
	}
	return counts
}
