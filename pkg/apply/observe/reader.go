package observe

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Reader reads a Kubernetes API. If the server answers with an error, it is one of
// k8s.io/apimachinery/pkg/api/errors. If the server doesn't serve a kind, it is
// *meta.NoKindMatchError. A method without error returned everything, never a part of a
// list. A Reader is safe for concurrent use.
type Reader interface {
	// Resource returns how the server serves a kind. An empty version means the server's
	// preferred version. If only the API service of the kind's group doesn't answer, the
	// error is a *lynq.GroupUnavailableError.
	Resource(ctx context.Context, group, version, kind string) (lynq.APIResource, error)
	// Listable returns every kind that the server can list, each in one version. If some
	// groups don't answer, it returns the other kinds with an error that wraps a
	// *lynq.GroupUnavailableError.
	Listable(ctx context.Context) ([]lynq.APIResource, error)
	// List calls read with the metadata of all objects that match a label selector, in one
	// namespace or, with "", in all. After the whole list has come, it calls the notes that
	// read returned; nil notes nothing. Metadata that no note holds costs no memory.
	List(ctx context.Context, r lynq.APIResource, namespace, selector string, read func(*metav1.PartialObjectMetadata) (note func())) error
	// Metadata returns the metadata of one object.
	Metadata(ctx context.Context, r lynq.APIResource, namespace, name string) (*metav1.PartialObjectMetadata, error)
	// Get returns one object.
	Get(ctx context.Context, r lynq.APIResource, namespace, name string) (*unstructured.Unstructured, error)
}

// ObjectReader is a Reader that can also read many whole objects.
type ObjectReader interface {
	Reader
	// ReadObjects calls read for each object that matches a label selector, in one
	// namespace or, with "", in all. read gets the metadata, and the object without
	// managedFields. The notes that read returns are called after the complete list.
	ReadObjects(ctx context.Context, r lynq.APIResource, namespace, selector string,
		read func(*metav1.PartialObjectMetadata, *unstructured.Unstructured) (note func())) error
}
