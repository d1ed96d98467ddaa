package apply

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

// disownUnmanaged carries that out. The record names the object already.
func (n *nodeRun) disownUnmanaged(s *stepRun) {
	if s.Object != nil {
		s.record = n.recordOf(s)
		s.record.UID = string(s.Live.UID)
	}
	w := &sender{nodeRun: n, s: s}
	for try := 0; ; try++ {
		err := w.tryDisownUnmanaged()
		switch {
		case err == nil:
			if s.Object != nil && s.record.Ready && !n.Options.DryRun {
				n.report(Event{Type: EventReady, Object: s.ref(), ID: s.id()})
			}
			n.end(s, OutcomeDone, s.Message)
			return
		case problemOf(err).kind != problemMoved || try == maxTries:
			n.failed(s, err)
			return
		}
	}
}

var errManagedAgain = errors.New("it is marked as unmanaged no more; apply again")

func (w *sender) tryDisownUnmanaged() error {
	live, err := w.get()
	if err != nil {
		return err
	}
	m, err := metadataOf(live)
	if err != nil {
		return err
	}
	me, l := w.owner(), liveOf(w.s.ref(), m)
	switch {
	case !l.Unmanaged:
		return errManagedAgain
	case !me.owns(&l):
		return nil
	}
	references, _, _ := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	c := trackChange{Owners: slices.DeleteFunc(references, lynq.IsOwnerNode)}
	if l.PartOf == me.partOf && l.Node == "" {
		c.SetLabels = map[string]string{lynq.LabelNode: me.Name, lynq.LabelNodeNamespace: me.Namespace}
	}
	_, err = w.change(live, c)
	return err
}
