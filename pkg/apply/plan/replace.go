package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Replacement has the writes before lynqctl deletes the ConfigMap of an inventory and
// creates a new one. The garbage collector deletes every object that still refers to the
// old one.
type Replacement struct {
	// Moves are the recorded objects. Their owner reference moves to the new ConfigMap.
	Moves []Belonging
	// Unlisted objects refer to the inventory, which doesn't list them, because somebody copied an
	// object with its metadata. lynqctl removes their owner reference.
	Unlisted []*tracking.Live
	// Stays says why lynqctl must keep the inventory, or is nil. It is a *StaysError, or
	// names another client that blocks the deletion.
	Stays error
}

// Replace decides whether lynqctl may delete an inventory that waits for our finalizer. It
// may if this run has read every object in the inventory. referring are the objects that
// refer to it. excluded says why an object must not change, or returns "".
//
// It is a pure function.
func Replace(inv *inventory.Inventory, seen *Observed, referring []*tracking.Live, excluded func(*inventory.Entry) string) *Replacement {
	if err := inv.Held(); err != nil {
		return &Replacement{Stays: err}
	}
	r, stays := &Replacement{}, &StaysError{Inventory: inv.Node.Namespace + "/" + inventory.Name(inv.Node.Name)}
	refers := make(map[lynq.Ref]*tracking.Live, len(referring))
	for _, l := range referring {
		refers[l.Ref] = l
	}
	entries := inv.All()
	for i := range entries {
		e := &entries[i]
		stays.unseen(seen.Unknown[e.Ref])
		l := refers[e.Ref]
		if l == nil {
			continue
		}
		delete(refers, e.Ref)
		switch why := excluded(e); {
		case why != "":
			stays.excluded(e.Ref, why)
		case l.Record:
			r.Unlisted = append(r.Unlisted, l)
		default:
			r.Moves = append(r.Moves, Belonging{e, l})
		}
	}
	for ref, l := range refers {
		if why := excluded(&inventory.Entry{Ref: ref}); why != "" {
			stays.excluded(ref, why)
			continue
		}
		r.Unlisted = append(r.Unlisted, l)
	}
	slices.SortFunc(r.Unlisted, func(a, b *tracking.Live) int { return strings.Compare(a.String(), b.String()) })
	if err := stays.sorted(); err != nil {
		return &Replacement{Stays: err}
	}
	return r
}

// Referring returns the observed objects by the uids of their owners.
func (o *Observed) Referring() map[types.UID][]*tracking.Live {
	referring := map[types.UID][]*tracking.Live{}
	for _, seen := range []map[lynq.Ref]*tracking.Live{o.Live, o.Unlisted} {
		for _, l := range seen {
			for _, uid := range l.Owners {
				referring[uid] = append(referring[uid], l)
			}
		}
	}
	return referring
}

// StaysError says why lynqctl doesn't replace a deleted inventory. The garbage collector
// might delete objects with it.
type StaysError struct {
	// Inventory is the ConfigMap, as namespace/name.
	Inventory string
	// Unseen has the errors of objects that lynqctl couldn't read, or is nil.
	Unseen *UnknownError
	// Excluded are the objects that refer to the inventory and must not change.
	Excluded []error
}

// Error implements error.
func (e *StaysError) Error() string {
	causes := slices.Clone(e.Excluded)
	if e.Unseen != nil {
		for _, err := range e.Unseen.Causes {
			causes = append(causes, unseenCause(err))
		}
	}
	more := ""
	if n := len(causes) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Sprintf("inventory %s was deleted, and lynqctl can't restore it yet: %v%s. Until then lynqctl keeps the inventory, and changes nothing of the node",
		e.Inventory, causes[0], more)
}

// Unwrap returns the causes.
func (e *StaysError) Unwrap() []error {
	if e.Unseen == nil {
		return e.Excluded
	}
	return append(slices.Clone(e.Excluded), e.Unseen)
}

// fixExcluded tells the user how an inventory gets free of an excluded object.
const fixExcluded = "remove the rule or the owner reference, then run again"

// unseen adds an error about an object that lynqctl couldn't read. It ignores nil.
func (e *StaysError) unseen(err error) {
	if err == nil {
		return
	}
	if e.Unseen == nil {
		e.Unseen = &UnknownError{}
	}
	if !slices.Contains(e.Unseen.Causes, err) {
		e.Unseen.Causes = append(e.Unseen.Causes, err)
	}
}

// excluded adds an object that must not change.
func (e *StaysError) excluded(ref lynq.Ref, why string) {
	e.Excluded = append(e.Excluded, fmt.Errorf("%s belongs to it and must not change: %s (%s)", ref.Full(), why, fixExcluded))
}

// sorted returns the error with sorted causes, or nil if there are none.
func (e *StaysError) sorted() error {
	byText := func(a, b error) int { return strings.Compare(a.Error(), b.Error()) }
	slices.SortFunc(e.Excluded, byText)
	switch {
	case e.Unseen != nil:
		slices.SortFunc(e.Unseen.Causes, byText)
	case len(e.Excluded) == 0:
		return nil
	}
	return e
}

// unseenCause explains why lynqctl couldn't read objects, and how to fix that and keep the
// tenant.
func unseenCause(err error) error {
	unserved := (*UnservedError)(nil)
	if !errors.As(err, &unserved) {
		return err
	}
	kind := lynq.Ref{Group: unserved.Group, Kind: unserved.Kind}.GroupKind()
	if unserved.Definition != "" {
		return fmt.Errorf("the server doesn't serve kind %s, which CustomResourceDefinition %s defines (serve a version of it, then run again)", kind, unserved.Definition)
	}
	return fmt.Errorf("the server no longer serves kind %s, and its objects may still exist (have it served again, for example by its APIService, then run again)", kind)
}

// Belonging is an object that belongs to an inventory.
type Belonging struct {
	Entry *inventory.Entry
	Live  *tracking.Live
}
