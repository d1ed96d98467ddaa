package apply

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ReadinessOf tells how far an object has come. Where that depends on a storage
// class, class is asked for it.
func ReadinessOf(o *unstructured.Unstructured, class func(name string) (*unstructured.Unstructured, error)) Readiness {
	r := readiness(o)
	if r.class == "" {
		return r
	}
	classes := newStorageClasses()
	classes.changed = func() {}
	switch found, err := class(r.class); {
	case err == nil:
		classes.Read(found)()
	case apierrors.IsNotFound(err):
		classes.Synced()
	default:
		classes.fail(err)
	}
	return classes.decide(r)
}

// ReadyOnceThere tells whether all objects of a kind are ready as soon as they
// exist, so that nobody needs to read them to know.
func ReadyOnceThere(group, kind string) bool { return alwaysReady(group, kind, nil) }
