package plan

import (
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
)

// A Stray refers to an inventory that doesn't list it.
type Stray struct {
	*tracking.Live
	// Excluded says why the object must not change, or is "".
	Excluded string
}

// StrayWarning warns the user about an object that loses its owner reference.
const StrayWarning = "its owner is the node's inventory, which doesn't list it: lynqctl takes that owner reference off, so that the garbage collector keeps the object"

// Stays returns why the object must keep its owner reference, or nil. Then the inventory
// stays too, and keeps its objects of that kind.
func (s Stray) Stays() error {
	if s.Excluded == "" {
		return nil
	}
	return fmt.Errorf("its owner is the node's inventory, which doesn't list it, and it must not change: %s (%s)", s.Excluded, fixExcluded)
}

// Tells returns what a dry run tells the user about the object.
func (s Stray) Tells() string {
	if err := s.Stays(); err != nil {
		return err.Error()
	}
	return StrayWarning
}

// Loosens lists the strays whose owner reference would have to come off if the run goes
// well.
func (p *NodePlan) Loosens() []Stray {
	if p.Replacement != nil {
		var strays []Stray
		for _, l := range p.Replacement.Strays {
			strays = append(strays, Stray{Live: l})
		}
		return strays
	}
	keeps := func(s *Step) bool {
		return s.Object != nil && !s.Purges() || s.Action == ActionSkip || s.Action == ActionBlock
	}
	return slices.DeleteFunc(slices.Clone(p.Strays), func(l Stray) bool {
		return slices.ContainsFunc(p.Steps, func(s Step) bool {
			like := p.Desired == nil || s.Ref().GroupKind() == l.GroupKind() && s.Ref().Namespace == l.Namespace
			return keeps(&s) && like // one that stays keeps the inventory
		})
	})
}
