package plan

import (
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/changeset"
)

// Effects returns what a step does beside changing fields.
func (s *Step) Effects() changeset.Effects {
	leaves := s.Object == nil && (s.Action == ActionDelete || s.Action == ActionCollect)
	return changeset.Effects{
		Contents:  leaves && tracking.TakesAlong(s.Ref()) != "",
		Data:      (leaves || s.Action == ActionRecreate) && s.Entry != nil && s.Entry.HoldsData(),
		Recreates: s.Action == ActionRecreate,
	}
}
