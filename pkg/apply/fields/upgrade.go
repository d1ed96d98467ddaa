package fields

import (
	"encoding/json"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// clientSide tells whether an entry of managedFields is that of a tool that applies on
// the client's side, see kinds.ClientSide.
func clientSide(e *metav1.ManagedFieldsEntry) bool {
	return e.Subresource == "" && kinds.ClientSide(e.Manager, e.Operation == metav1.ManagedFieldsOperationApply)
}

// UpgradePatch is a JSON patch that makes lynq's server-side apply the manager of
// what lynq manages by updates, so that a later apply removes what it no longer
// says. It is nil where there is nothing to move, and holds for the live object's
// resourceVersion only. With override it moves what client-side tools manage, too.
//
// Fields that are recorded for another version of the API than those of lynq's
// own apply cannot be moved, and stay where they are.
func UpgradePatch(live *unstructured.Unstructured, override bool) ([]byte, error) {
	entries, err := Entries(live)
	if err == nil && override {
		entries, err = reclaimed(entries)
	}
	if err != nil {
		return nil, err
	}
	// The names under which csaupgrade moves entries: one for each, since it
	// takes one entry of a name and drops the others.
	var moving []string
	version := appliedVersion(entries)
	for i := range entries {
		e := &entries[i]
		ours := e.Manager == wellknown.FieldManager && e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == ""
		if !ours || version != "" && e.APIVersion != version {
			continue
		}
		version = e.APIVersion
		e.Manager = wellknown.FieldManager + "-moving-" + strconv.Itoa(i)
		moving = append(moving, e.Manager)
	}
	if len(moving) == 0 {
		return nil, nil
	}
	moved := &metav1.PartialObjectMetadata{}
	moved.ManagedFields = entries
	for _, name := range moving {
		if err := csaupgrade.UpgradeManagedFields(moved, sets.New(name), wellknown.FieldManager); err != nil {
			return nil, fmt.Errorf("move managed fields: %w", err)
		}
	}
	return ManagersPatch(moved.ManagedFields, live.GetResourceVersion())
}

// ManagersPatch is a JSON patch that sets who manages the fields of an object, if
// that has a version.
func ManagersPatch(entries []metav1.ManagedFieldsEntry, resourceVersion string) ([]byte, error) {
	// Not a test but a replacement of the version: the server then answers with
	// a conflict where it moved, instead of an invalid request.
	return json.Marshal([]PatchOp{
		{"replace", "/metadata/managedFields", entries},
		{"replace", "/metadata/resourceVersion", resourceVersion},
	})
}

// appliedVersion is the version that lynq applied last, "" where it never did.
func appliedVersion(entries []metav1.ManagedFieldsEntry) string {
	for i := range entries {
		e := &entries[i]
		if e.Manager == wellknown.FieldManager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" {
			return e.APIVersion
		}
	}
	return ""
}

// A PatchOp is one operation of a JSON patch.
type PatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}
