package orphan

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// storage finds the storage of orphaned volumes and claims, and the StatefulSets whose
// claims Kubernetes deletes with them. Metadata doesn't say either, so each is read.
func (s *search) storage(ctx context.Context, orphans []Orphan) error {
	var stored []*Orphan
	for i := range orphans {
		o := &orphans[i]
		if o.Live == nil {
			continue
		}
		switch o.GroupKind() {
		case "PersistentVolumeClaim", "PersistentVolume":
			stored = append(stored, o)
		case lynq.StatefulSet:
			o.TakesClaims = true // until it has been read
			stored = append(stored, o)
		}
	}
	return s.parallel(ctx, len(stored), func(ctx context.Context, i int) error {
		o := stored[i]
		object, err := s.Get(ctx, o.Resource, o.Namespace, o.Name)
		if apierrors.IsNotFound(err) {
			return nil // it went since it was listed
		}
		if err != nil {
			return s.unreadable.tolerate(&o.Resource, verbGet, err)
		}
		o.Size = sizeOf(object)
		o.TakesClaims = lynq.TakesClaims(o.Ref, object.Object)
		return nil
	})
}

// sizeOf is what a volume or a claim has or, where it has nothing yet, asks for.
func sizeOf(o *unstructured.Unstructured) string {
	for _, path := range [][]string{
		{"status", "capacity", "storage"},
		{"spec", "capacity", "storage"},
		{"spec", "resources", "requests", "storage"},
	} {
		if size, _, _ := unstructured.NestedString(o.Object, path...); size != "" {
			return size
		}
	}
	return ""
}
