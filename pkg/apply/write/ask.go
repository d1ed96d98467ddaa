package write

import (
	"context"
	"errors"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Ask finds out whether Send would write the object. It works like Send, and stops before a
// write. It returns the object that it found, or nil if it doesn't know. Then Send reports
// why.
func (o *Object) Ask(ctx context.Context, m Manner) *tracking.Live {
	q := &question{Cluster: o.Cluster}
	o.Cluster = q
	done, err := o.Send(ctx, m)
	switch {
	case err == nil && done.Unchanged && done.Meta != nil:
		l := tracking.LiveOf(o.Step.Ref(), done.Meta)
		l.Intact = true
		return &l
	case !errors.Is(err, errWouldWrite) || q.live == nil:
		return nil
	}
	l, err := tracking.LiveOfObject(o.Step.Ref(), q.live)
	if err != nil {
		return nil
	}
	l.Change(func(r *tracking.Rare) { r.Asked = q.live })
	return l
}

// question is a Cluster that never writes. It answers a write that would change nothing,
// and returns errWouldWrite for any other.
type question struct {
	Cluster
	live *unstructured.Unstructured // the object as read last
}

var errWouldWrite = errors.New("a run would write this")

// Get implements Cluster.
func (q *question) Get(ctx context.Context, r lynq.APIResource, namespace, name string) (live *unstructured.Unstructured, err error) {
	live, err = q.Cluster.Get(ctx, r, namespace, name)
	q.live = live
	return live, err
}

// Write implements Cluster. A JSON patch changes managers, and lynqctl sends it only to
// change something.
func (q *question) Write(ctx context.Context, r lynq.APIResource, w Request) (*metav1.PartialObjectMetadata, error) {
	if w.Verb == JSONPatch {
		return nil, errWouldWrite
	}
	would, m, err := q.Try(ctx, r, w)
	if err != nil {
		return nil, err
	}
	if q.live == nil || q.live.GetResourceVersion() != would.GetResourceVersion() {
		if _, err := q.Get(ctx, r, w.Namespace, w.Name); err != nil {
			return nil, err
		}
	}
	switch {
	case q.live.GetResourceVersion() != would.GetResourceVersion():
		return nil, ErrMoved // makes Send read both again
	case !reflect.DeepEqual(would.Object, q.live.Object):
		return nil, errWouldWrite
	}
	return m, nil
}
