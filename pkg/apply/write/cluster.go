package write

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Cluster writes objects, and never deletes one. It is safe for concurrent use.
type Cluster interface {
	// Metadata and Get read one object. They return NotFound if it doesn't exist.
	Metadata(ctx context.Context, r lynq.APIResource, namespace, name string) (*metav1.PartialObjectMetadata, error)
	Get(ctx context.Context, r lynq.APIResource, namespace, name string) (*unstructured.Unstructured, error)
	// Write sends one object and returns its metadata afterwards. If the answer was lost,
	// it tries again and may find its own effect. That is AlreadyExists or a conflict of
	// resource versions.
	Write(ctx context.Context, r lynq.APIResource, w Request) (*metav1.PartialObjectMetadata, error)
	// Try makes the server try a write without keeping it. It returns the whole object that
	// would result, and its metadata.
	Try(ctx context.Context, r lynq.APIResource, w Request) (*unstructured.Unstructured, *metav1.PartialObjectMetadata, error)
}

// Deleter deletes objects. It is for callers that decide to, and never for this package.
type Deleter interface {
	// Delete deletes the object of a permit, if it still has the permit's uid and version.
	// gone says whether it no longer exists. Finalizers or a grace period may delay that.
	Delete(ctx context.Context, r lynq.APIResource, permit decide.Permit, o Deletion) (gone bool, err error)
}

// Deletion says how lynqctl deletes an object.
type Deletion struct {
	// Propagation decides about the objects that it owns. "" is the server's default.
	Propagation metav1.DeletionPropagation
	// DryRun makes the server do everything except delete it.
	DryRun bool
}

// Verb says how lynqctl sends a Request.
type Verb uint8

// The verbs: POST, PUT, and PATCH with each type of patch that apply uses. Apply is a
// server-side apply.
const (
	Create Verb = iota
	Update
	Apply
	MergePatch
	StrategicPatch
	JSONPatch
)

// PatchType returns the content type of a patch, or "" for other verbs.
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
	Body            []byte // in JSON
	// Force takes fields from other managers. It is for Apply only.
	Force bool
	// DryRun makes the server do everything except keep the result.
	DryRun bool
	// Owners permits the write to change owner references. Without it, a write may only
	// create an object that refers to an inventory.
	Owners decide.OwnersPermit
}
