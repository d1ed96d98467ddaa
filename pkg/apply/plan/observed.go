package plan

import (
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Observed is what there is of the objects that nodes want or inventories name.
// An object that is in none of its maps is absent.
type Observed struct {
	Live map[lynq.Ref]*Live
	// Unknown has the objects that may be there and could not be looked at, and
	// why. What a whole kind has in common is one error.
	Unknown map[lynq.Ref]error
	// Misplaced has the objects that cannot be there, since their kind has
	// namespaces and they have none, or the other way round.
	Misplaced map[lynq.Ref]*ScopeError
	// Strays are objects that refer to one of the inventories, and were not looked for:
	// lists showed them.
	Strays map[lynq.Ref]*Live
}

// See has a plan decided on what was observed.
func (in *Input) See(o *Observed) {
	in.Live, in.Unknown, in.Misplaced, in.Strays = o.Live, o.Unknown, o.Misplaced, o.Strays
}

// observed is what the plan is decided on.
func (in *Input) observed() *Observed {
	return &Observed{Live: in.Live, Unknown: in.Unknown, Misplaced: in.Misplaced, Strays: in.Strays}
}

// UnknownOf is why it is not known which of the objects of an inventory there are,
// nil where it is.
func (o *Observed) UnknownOf(inv *inventory.Inventory) error {
	for _, r := range inv.All() {
		if err := o.Unknown[r.Ref]; err != nil {
			return err
		}
	}
	return nil
}
