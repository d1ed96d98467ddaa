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
	// Watch reports all objects in a scope and every change to the handler, until the
	// context ends. It handles broken connections and expired resource versions itself. It
	// returns when the context ends, or with a permanent error such as Forbidden.
	Watch(ctx context.Context, r lynq.APIResource, in Scope, h Handler) error
}

// Scope selects the objects of a kind to watch.
type Scope struct {
	Namespace string // "" for all
	Labels    string // a label selector, "" for all
	// Name is the name of a single object, "" for all. A Role with the name in
	// resourceNames permits such a watch.
	Name string
}

// Handler receives the reports of a watch.
type Handler interface {
	// Read reads a new or changed object, and returns a function that notes it. Nothing
	// else of the object is kept, so a watch of many large objects needs little memory.
	// Other methods may run at the same time.
	Read(*unstructured.Unstructured) (note func())
	// Gone reports that an object no longer exists.
	Gone(namespace, name string, uid types.UID)
	// Synced follows the notes of all objects that existed when the watch began or began
	// again. Calls of Synced, Gone and notes never overlap, and keep the order of events.
	// If a watch breaks, some notes are never called.
	Synced()
}

// MetadataHandler receives the metadata of objects, with managedFields, and else works like
// a Handler. The server sends only metadata.
type MetadataHandler interface {
	ReadMetadata(*metav1.PartialObjectMetadata) (note func())
	Gone(namespace, name string, uid types.UID)
	Synced()
}
