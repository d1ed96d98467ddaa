package write

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/gate"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Cluster writes objects, and deletes none. It is safe for concurrent use.
type Cluster interface {
	// Metadata and Get read one object; an object that doesn't exist is NotFound.
	Metadata(ctx context.Context, r lynq.APIResource, namespace, name string) (*metav1.PartialObjectMetadata, error)
	Get(ctx context.Context, r lynq.APIResource, namespace, name string) (*unstructured.Unstructured, error)
	// Write sends one object and gives its metadata as it is then. A write
	// whose answer was lost is tried again, so that it may find its own effect:
	// AlreadyExists or a conflict of resource versions.
	Write(ctx context.Context, r lynq.APIResource, w Request) (*metav1.PartialObjectMetadata, error)
	// Try has the server try a write and keep nothing, and gives the whole object that
	// there would be, and its metadata.
	Try(ctx context.Context, r lynq.APIResource, w Request) (*unstructured.Unstructured, *metav1.PartialObjectMetadata, error)
}

// Deleter deletes objects: for those who decide to, never for this package.
type Deleter interface {
	// Delete deletes the object of a permit, as long as it has the uid and the version that
	// the permit names, and tells whether it is gone: finalizers, or a grace period, may
	// keep it for a while.
	Delete(ctx context.Context, r lynq.APIResource, permit gate.Permit, o Deletion) (gone bool, err error)
}

// Deletion says how lynqctl deletes an object.
type Deletion struct {
	// Propagation says what becomes of the objects that it owns; "" is the server's default.
	Propagation metav1.DeletionPropagation
	// DryRun has the server do all but delete it.
	DryRun bool
}

// Verb says how lynqctl sends a Request.
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

// Request is one request that changes an object. The field manager is always
// wellknown.FieldManager.
type Request struct {
	Verb            Verb
	Namespace, Name string
	Body            []byte // JSON
	// Force takes fields from other managers; for Apply only.
	Force bool
	// DryRun has the server do all but keep the result.
	DryRun bool
	// Owners permits the write to change owner references. Without it a write may only
	// create an object that refers to an inventory.
	Owners gate.OwnersPermit
}
