package apply

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

var (
	// errTurned: the step is another one now, which is carried out in another way.
	errTurned = errors.New("it is not to be written any more; apply again")
	// errExists: there is an object where one was to be created.
	errExists = errors.New("it is there already, and changes all the time; apply again")
)

// lookAt reads what there is of an object, nil for nothing.
func (n *nodeRun) lookAt(s *stepRun) (*plan.Live, error) {
	m, err := n.Cluster.Metadata(n.finishing, s.resource, s.ref().Namespace, s.ref().Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := plan.LiveOf(s.ref(), m)
	l.Labels = m.Labels
	return &l, nil
}

// recheck decides a step again, on the object as it is now.
func (n *nodeRun) recheck(s *stepRun, now *plan.Live) (plan.Step, plan.Verdict) {
	return n.of.Recheck(n.plan, n.inventory, s.Step, now)
}

// again looks at an object that is not as it was observed, and decides on it. What
// is left alone from now on is errTurned.
func (w *sender) again() error {
	now, err := w.lookAt(w.s)
	if err != nil {
		return err
	}
	step, _ := w.recheck(w.s, now)
	if step.Action == plan.ActionKeep && w.s.touched {
		// What this run began to write it completes.
		step.Action, step.Reason, step.Message = w.s.Action, w.s.Reason, w.s.Message
	}
	w.s.Step = &step
	if step.Writes() || now == nil {
		return nil
	}
	return errTurned
}

// current reads the object that was observed. Where the decision on it does not
// hold any more it is errMoved.
func (w *sender) current() (*unstructured.Unstructured, error) {
	live, err := w.get()
	if err != nil {
		return nil, err
	}
	now, err := plan.LiveOfObject(w.s.ref(), live)
	if err != nil {
		return nil, err
	}
	step, verdict := w.recheck(w.s, now)
	if verdict != plan.VerdictHolds {
		return nil, errMoved
	}
	w.s.Step = &step
	return live, nil
}

// left reads the object as a write of this step left it: what holds for the write
// holds for it.
func (w *sender) left(done result) (*unstructured.Unstructured, error) {
	live, err := w.get()
	if err == nil && live.GetResourceVersion() != done.meta.ResourceVersion {
		return nil, errMoved
	}
	return live, err
}

// turned carries out what a step has become.
func (n *nodeRun) turned(ctx context.Context, s *stepRun) {
	if s.touched && s.entry == nil {
		r := plan.NewEntry(s.Object) // it may have our tracking
		r.Adopted = s.Adopted
		s.entry = &r
	}
	n.execute(ctx, s)
}
