package wait

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Watcher watches a cluster for a Tracker.
type Watcher interface {
	// Watch tells the handler of all objects in a scope, and of every change,
	// until the context ends. Connections that break and resource versions that
	// are too old are its own business. It returns when the context ends, or
	// with an error that will not pass, such as Forbidden.
	Watch(ctx context.Context, r lynq.APIResource, in Scope, h Handler) error
}

// Scope is which objects of a kind are watched.
type Scope struct {
	Namespace string // "" for all
	Labels    string // a label selector, "" for all
	// Name is that of the only object, "" for all. A Role that names the object
	// in resourceNames allows to watch it so.
	Name string
}

// Handler is told of objects.
type Handler interface {
	// Read reads an object that is there, new or changed, and gives what notes
	// it: nothing else of the object is kept, so that a watch of many large ones
	// needs little memory. It may be called while other methods are.
	Read(*unstructured.Unstructured) (note func())
	// Gone is an object that is there no more.
	Gone(namespace, name string, uid types.UID)
	// Synced follows on the notes of all objects that there were when the watch
	// began, or began again. Calls of it, of Gone and of notes do not overlap,
	// and come in the order of what happened; where a watch breaks off, some
	// notes are never called.
	Synced()
}

// MetadataHandler is told of objects as a Handler is, by their metadata, of which
// managedFields are part. The server sends nothing else of them.
type MetadataHandler interface {
	ReadMetadata(*metav1.PartialObjectMetadata) (note func())
	Gone(namespace, name string, uid types.UID)
	Synced()
}
