package apply

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// A plan may be long made when its turn comes, in a rollout say. What is written
// must still be what was decided on: not somebody else's meanwhile, not marked to
// be left alone.

// stands tells whether the decision on the observed object holds for what it is
// now.
func (w *sender) stands(now *Live) error {
	then := w.s.Live
	tracking := func(l *Live) [3]string { return [3]string{l.Node, l.NodeNamespace, l.PartOf} }
	me := w.owner()
	switch who := now.takenOver(); {
	case now.Unmanaged && !then.Unmanaged:
		return &conflictError{"it bears " + lynq.AnnotationMode + ": " + lynq.ModeUnmanaged + " since this run looked; apply again"}
	case now.Deleting && !then.Deleting:
		return &conflictError{"it is being deleted since this run looked; apply again"}
	case who != "" && who != then.takenOver():
		return &conflictError{"it belongs to " + who + " since this run looked; apply again"}
	case tracking(now) != tracking(then) && !me.tracks(now):
		return &conflictError{"it bears the tracking of another node since this run looked; apply again"}
	}
	return nil
}

// current reads the object that was observed, where the decision on it stands.
func (w *sender) current() (*unstructured.Unstructured, error) {
	live, err := w.get()
	if err != nil {
		return nil, err
	}
	m, err := metadataOf(live)
	if err != nil {
		return nil, err
	}
	l := liveOf(w.s.ref(), m)
	return live, w.stands(&l)
}

// refresh looks again at an object that has another version than was observed.
// One that is gone, or replaced, shows at the next try.
func (w *sender) refresh() error {
	if w.s.Live == nil {
		return nil
	}
	m, err := w.Cluster.Metadata(w.finishing, w.s.resource, w.s.ref().Namespace, w.s.ref().Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case m.UID != w.s.Live.UID:
		return nil
	}
	l := liveOf(w.s.ref(), m)
	if err := w.stands(&l); err != nil {
		return err
	}
	again := *w.s.Step
	again.Live = &l
	w.s.Step, w.fresh = &again, true
	return nil
}
