package decide

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// MarkedUnmanaged tells users why lynqctl skips an object that somebody marked.
const MarkedUnmanaged = "it has " + wellknown.AnnotationMode + ": " + wellknown.ModeUnmanaged

// leaveAlone plans an object that is marked as unmanaged. lynqctl doesn't change its
// content. It removes a reference to the inventory, because the garbage collector ignores
// the mark and would delete the object with the inventory. Labels track the object instead,
// so that the node still knows it.
func leaveAlone(me plan.Owner, s *plan.Step, l *tracking.Live) {
	s.Action, s.Reason, s.Message = plan.ActionSkip, plan.ReasonUnmanaged, MarkedUnmanaged
	if me.Owns(l) {
		s.Action = plan.ActionTrack
		s.Message += "; labels track it instead of an owner reference, and nothing else changes"
	}
}
