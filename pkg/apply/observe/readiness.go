package observe

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// ObservedReadiness has objects and their readiness.
type ObservedReadiness struct {
	plan.Observed
	// Ready has the existing objects, except for kinds that are ready as soon as they
	// exist.
	Ready map[lynq.Ref]ready.Readiness
	// Stopped has the workloads that another client scaled to zero.
	Stopped map[lynq.Ref]bool
	// Classes are the storage classes, or nil if no claim depends on them.
	Classes *ready.StorageClasses
}

// Readiness works like Nodes for the objects in inventories, and adds their readiness. It
// costs as many lists as Nodes. It reads whole objects of kinds with a readiness beyond
// metadata, and the storage classes if a claim needs them.
func Readiness(ctx context.Context, c ObjectReader, hub string, inventories []*inventory.Inventory) (*ObservedReadiness, error) {
	return readiness(ctx, c, newObserver(c, hub), kindsIn(nil, inventories))
}

// ReadinessOf works like Readiness for some objects, given by their apiVersions. of is the
// number of all objects. As in SomeNodes, it reads a few objects one by one.
func ReadinessOf(ctx context.Context, c ObjectReader, hub string, of int, objects map[lynq.Ref]string) (*ObservedReadiness, error) {
	o := newObserver(c, hub)
	if len(objects) < of {
		o.few = max(looks, of/listedPerLook)
	}
	return readiness(ctx, c, o, kindsOf(objects))
}

func readiness(ctx context.Context, c ObjectReader, o *observer, kinds []wantedKind) (*ObservedReadiness, error) {
	o.readiness = newReadinessReader(c)
	if _, err := o.observe(ctx, kinds); err != nil {
		return nil, err
	}
	classes := o.readiness.settleClaims(ctx)
	return &ObservedReadiness{Observed: o.seen, Ready: o.readiness.ready, Stopped: o.readiness.stopped, Classes: classes}, nil
}

// readinessReader reads the readiness of objects for an observer, under its lock. A nil one
// reads nothing.
type readinessReader struct {
	cluster ObjectReader
	ready   map[lynq.Ref]ready.Readiness
	stopped map[lynq.Ref]bool
}

func newReadinessReader(c ObjectReader) *readinessReader {
	return &readinessReader{cluster: c, ready: map[lynq.Ref]ready.Readiness{}, stopped: map[lynq.Ref]bool{}}
}

// judges reports whether lynqctl reads the readiness of a kind's objects.
func (r *readinessReader) judges(kind lynq.APIResource) bool {
	return r != nil && !kinds.ReadyOnceThere(kind.Group, kind.Kind)
}

// list reads a list of a kind.
func (r *readinessReader) list(ctx context.Context, o *observer, kind lynq.APIResource, namespace, selector string, refOf func(*metav1.PartialObjectMetadata) lynq.Ref, meant func(lynq.Ref) bool) error {
	return r.cluster.ReadObjects(ctx, kind, namespace, selector, func(m *metav1.PartialObjectMetadata, object *unstructured.Unstructured) func() {
		ref := refOf(m)
		live, now, stopped := tracking.LiveOf(ref, m), ready.Of(object), fields.Stopped(object, m.ManagedFields)
		return func() {
			if !meant(ref) {
				return
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			o.seen.Live[ref] = &live
			r.note(&live, now, stopped)
		}
	})
}

func (r *readinessReader) note(l *tracking.Live, now ready.Readiness, stopped bool) {
	r.ready[l.Ref] = now.AfterOthers(!l.LastButStatus)
	if stopped && !l.Unmanaged {
		r.stopped[l.Ref] = true
	}
}

// look reads one object after its metadata. If the object vanished meanwhile, look keeps
// nothing of it.
func (r *readinessReader) look(ctx context.Context, o *observer, kind lynq.APIResource, ref lynq.Ref, m *metav1.PartialObjectMetadata) error {
	if !r.judges(kind) {
		return nil
	}
	object, err := r.cluster.Get(ctx, kind, ref.Namespace, ref.Name)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		delete(o.seen.Live, ref)
		return err
	}
	r.note(o.seen.Live[ref], ready.Of(object), fields.Stopped(object, m.ManagedFields))
	return nil
}

// settleClaims decides the readiness of claims that depends on their storage class. It
// returns the classes, or nil if no claim needs them.
func (r *readinessReader) settleClaims(ctx context.Context) *ready.StorageClasses {
	var claims []lynq.Ref
	for ref, now := range r.ready {
		if now.Class != "" {
			claims = append(claims, ref)
		}
	}
	if len(claims) == 0 {
		return nil
	}
	classes := StorageClasses(ctx, r.cluster)
	for _, ref := range claims {
		r.ready[ref] = classes.Decide(r.ready[ref])
	}
	return classes
}

// StorageClasses lists the storage classes.
func StorageClasses(ctx context.Context, c ObjectReader) *ready.StorageClasses {
	classes := &ready.StorageClasses{Waits: map[string]bool{}, Complete: true}
	err := c.ReadObjects(ctx, ready.ClassResource(), "", "", func(_ *metav1.PartialObjectMetadata, class *unstructured.Unstructured) func() {
		name, waits := class.GetName(), ready.WaitsForConsumer(class)
		return func() { classes.Waits[name] = waits }
	})
	if err != nil && !apierrors.IsNotFound(err) {
		classes.Complete, classes.Err = false, err
	}
	return classes
}
