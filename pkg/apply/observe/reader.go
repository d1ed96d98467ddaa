package observe

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Reader reads a Kubernetes API. It returns errors of
// k8s.io/apimachinery/pkg/api/errors where the server answered, and
// *meta.NoKindMatchError where the server does not serve a kind. A method that returns
// without an error has seen everything: a list is never a part of one. It is safe for
// concurrent use.
type Reader interface {
	// Resource finds how a kind is served. An empty version means the one that
	// the server prefers. Where only what serves the kind's group does not answer,
	// the error is a *lynq.GroupUnavailableError.
	Resource(ctx context.Context, group, version, kind string) (lynq.APIResource, error)
	// Listable gives every kind that the server can list, each in one version, also
	// with an error that wraps a *lynq.GroupUnavailableError for groups that do not
	// answer.
	Listable(ctx context.Context) ([]lynq.APIResource, error)
	// List gives the metadata of all objects that a label selector selects, in
	// one namespace or, with "", in all. The object may be kept.
	List(ctx context.Context, r lynq.APIResource, namespace, selector string, each func(*metav1.PartialObjectMetadata)) error
	// Metadata gives the metadata of one object.
	Metadata(ctx context.Context, r lynq.APIResource, namespace, name string) (*metav1.PartialObjectMetadata, error)
	// Get gives one object.
	Get(ctx context.Context, r lynq.APIResource, namespace, name string) (*unstructured.Unstructured, error)
}

// ObjectReader is a Reader that gives more than metadata of many objects at once.
type ObjectReader interface {
	Reader
	// ReadObjects has all objects read that a label selector selects, in one
	// namespace or, with "", in all, one at a time: its metadata, and the object
	// without managedFields. What notes it is called when the whole list has come.
	ReadObjects(ctx context.Context, r lynq.APIResource, namespace, selector string,
		read func(*metav1.PartialObjectMetadata, *unstructured.Unstructured) (note func())) error
}
