package orphan

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// storage finds the sizes of orphaned volumes and claims, the StatefulSets whose claims
// Kubernetes deletes with them, and views of Namespaces. Metadata shows none of that, so
// storage reads each object.
func (s *search) storage(ctx context.Context, orphans []Orphan) error {
	var stored, views []*Orphan
	for i := range orphans {
		o := &orphans[i]
		if o.Live == nil {
			continue
		}
		switch o.GroupKind() {
		case "PersistentVolumeClaim", "PersistentVolume":
			stored = append(stored, o)
		case lynq.StatefulSet:
			o.TakesClaims = true // unless the object shows otherwise
			stored = append(stored, o)
		default:
			if _, may := tracking.NamespaceOf(o.Ref); may {
				views = append(views, o)
			}
		}
	}
	err := s.parallel(ctx, len(views), func(ctx context.Context, i int) error { return s.view(ctx, views[i]) })
	if err != nil {
		return err
	}
	return s.parallel(ctx, len(stored), func(ctx context.Context, i int) error {
		o := stored[i]
		object, err := s.Get(ctx, o.Resource, o.Namespace, o.Name)
		if apierrors.IsNotFound(err) {
			return nil // deleted since the list
		}
		if err != nil {
			return s.unreadable.tolerate(&o.Resource, verbGet, err)
		}
		o.Size = sizeOf(object)
		o.TakesClaims = lynq.TakesClaims(o.Ref, object.Object)
		return nil
	})
}

// view finds out whether an object of an extension is a Namespace, which has data.
func (s *search) view(ctx context.Context, o *Orphan) error {
	namespaces := lynq.APIResource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}
	o.IsNamespace = true // unless the Namespace shows otherwise
	object, err := s.Get(ctx, namespaces, "", o.Name)
	switch {
	case apierrors.IsNotFound(err):
		o.IsNamespace = false
		return nil
	case err != nil:
		return s.unreadable.tolerate(&namespaces, verbGet, err)
	}
	o.IsNamespace = object.GetUID() == o.UID
	return nil
}

// sizeOf returns the storage of a volume or claim. For a claim without a volume, it
// returns the request.
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
