package apply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Cluster is what apply needs of a Kubernetes API: what is read of it, with the errors
// that observe.Reader tells of, and what changes it. It is safe for concurrent use.
type Cluster interface {
	observe.Reader
	// Refresh asks the server again which kinds it serves.
	Refresh(ctx context.Context) error

	// Write sends one object and gives its metadata as it is then. A write
	// whose answer was lost is tried again, so that it may find its own effect:
	// AlreadyExists or a conflict of resource versions.
	Write(ctx context.Context, r lynq.APIResource, w Write) (*metav1.PartialObjectMetadata, error)
	// Try has the server try a write and keep nothing, and gives the whole object that
	// there would be, and its metadata.
	Try(ctx context.Context, r lynq.APIResource, w Write) (*unstructured.Unstructured, *metav1.PartialObjectMetadata, error)
	// Delete deletes the object of a permit, as long as it has the uid and the version that
	// the permit names, and tells whether it is gone: finalizers, or a grace period, may
	// keep it for a while.
	Delete(ctx context.Context, r lynq.APIResource, permit plan.Permit, o Deletion) (gone bool, err error)

	// Watch tells the handler of all objects in a scope, and of every change,
	// until the context ends. Connections that break and resource versions that
	// are too old are its own business. It returns when the context ends, or
	// with an error that will not pass, such as Forbidden.
	Watch(ctx context.Context, r lynq.APIResource, in Scope, h WatchHandler) error
}

// Deletion is how an object is deleted.
type Deletion struct {
	// Propagation says what becomes of the objects that it owns; "" is the server's default.
	Propagation metav1.DeletionPropagation
	// DryRun has the server do all but delete it.
	DryRun bool
}

// Scope is which objects of a kind are watched.
type Scope struct {
	Namespace string // "" for all
	Labels    string // a label selector, "" for all
	// Name is that of the only object, "" for all. A Role that names the object
	// in resourceNames allows to watch it so.
	Name string
}

// Verb is how a Write is sent.
type Verb uint8

// The verbs: POST, PUT, and PATCH with each of the kinds of patches that apply
// uses. Apply is a server-side apply.
const (
	Create Verb = iota
	Update
	Apply
	MergePatch
	StrategicPatch
	JSONPatch
)

// PatchType is the content type of a verb that patches, "" for the others.
func (v Verb) PatchType() types.PatchType {
	switch v {
	case Apply:
		return types.ApplyPatchType
	case MergePatch:
		return types.MergePatchType
	case StrategicPatch:
		return types.StrategicMergePatchType
	case JSONPatch:
		return types.JSONPatchType
	}
	return ""
}

// Write is one request that changes an object. The field manager is always
// lynq.FieldManager.
type Write struct {
	Verb            Verb
	Namespace, Name string
	Body            []byte // JSON
	// Force takes fields from other managers; for Apply only.
	Force bool
	// DryRun has the server do all but keep the result.
	DryRun bool
	// Owners permits the write to change owner references. Without it a write may only
	// create or apply an object that refers to an inventory, and nothing else.
	Owners plan.OwnersPermit
}

// WatchHandler is told of objects.
type WatchHandler interface {
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

// MetadataHandler is told of objects as a WatchHandler is, by their metadata, of which
// managedFields are part. The server sends nothing else of them.
type MetadataHandler interface {
	ReadMetadata(*metav1.PartialObjectMetadata) (note func())
	Gone(namespace, name string, uid types.UID)
	Synced()
}
