package decide

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// MarkedUnmanaged tells people why lynqctl skips an object that a person marked.
const MarkedUnmanaged = "it has " + wellknown.AnnotationMode + ": " + wellknown.ModeUnmanaged

// leaveAlone plans an object that is marked as unmanaged: its content stays as it
// is. A reference to the inventory comes off, for with that the garbage collector
// deletes it when the inventory is deleted, and asks for no mark; labels
// track it in its place, so that the node still knows what it leaves alone.
func leaveAlone(me plan.Owner, s *plan.Step, l *tracking.Live) {
	s.Action, s.Reason, s.Message = plan.ActionSkip, reason.Unmanaged, MarkedUnmanaged
	if me.Owns(l) {
		s.Action = plan.ActionTrack
		s.Message += "; labels track it instead of an owner reference, and nothing else changes"
	}
}
