package apply

import (
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

const markedUnmanaged = "it has " + lynq.AnnotationMode + ": " + lynq.ModeUnmanaged

// leaveAlone plans an object that is marked as unmanaged: its content stays as it
// is. A reference to the inventory comes off, for with that the garbage collector
// deletes it when somebody deletes the inventory, and asks for no mark; labels
// track it in its place, so that the node still knows what it leaves alone.
func (me owner) leaveAlone(s *Step, l *Live) {
	s.Action, s.Reason, s.Message = ActionSkip, ReasonUnmanaged, markedUnmanaged
	if me.owns(l) {
		s.Action = ActionTrack
		s.Message += "; labels track it in place of an owner reference, and nothing else of it changes"
	}
}
