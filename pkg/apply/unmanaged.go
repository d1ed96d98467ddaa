package apply

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// disownUnmanaged carries that out. The record names the object already.
func (n *nodeRun) disownUnmanaged(s *stepRun) {
	if s.Object != nil {
		s.entry = new(s.NextEntry())
		s.entry.UID = string(s.Live.UID)
	}
	w := &sender{nodeRun: n, s: s}
	for try := 0; ; try++ {
		err := w.tryDisownUnmanaged()
		switch {
		case err == nil:
			if s.Object != nil && s.entry.Ready && !n.Options.DryRun {
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
	l, err := plan.LiveOfObject(w.s.ref(), live)
	if err != nil {
		return err
	}
	me := w.owner()
	switch {
	case !l.Unmanaged:
		return errManagedAgain
	case !me.Owns(l):
		return nil
	}
	references, _, _ := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	c := fields.MetadataChange{Owners: slices.DeleteFunc(references, lynq.IsOwnerNode)}
	if l.PartOf == me.PartOf && l.Node == "" {
		c.SetLabels = map[string]string{lynq.LabelNode: me.Name, lynq.LabelNodeNamespace: me.Namespace}
	}
	_, err = w.change(live, c)
	return err
}
