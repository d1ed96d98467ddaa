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

// clientSide reports whether an entry of managedFields comes from a tool that applies on
// the client's side (see kinds.ClientSide).
func clientSide(e *metav1.ManagedFieldsEntry) bool {
	return e.Subresource == "" && kinds.ClientSide(e.Manager, e.Operation == metav1.ManagedFieldsOperationApply)
}

// UpgradePatch returns a JSON patch that moves fields from lynq's updates to its
// server-side apply, so that a later apply can remove them. It is nil if there is nothing
// to move, and valid only for the live object's resourceVersion. With override it also
// moves fields of client-side tools.
//
// Fields in another API version than lynq's own apply can't be moved, and remain.
func UpgradePatch(live *unstructured.Unstructured, override bool) ([]byte, error) {
	entries, err := Entries(live)
	if err == nil && override {
		entries, err = reclaimed(entries)
	}
	if err != nil {
		return nil, err
	}
	// These are the names under which csaupgrade moves entries. Each has its own, because
	// csaupgrade takes one entry with a name and drops the others.
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
	return ManagersPatch(live, moved.ManagedFields)
}

// ManagersPatch returns a JSON patch that sets the managers of an object's fields, if the
// object has the live one's uid and version.
func ManagersPatch(live metav1.Object, entries []metav1.ManagedFieldsEntry) ([]byte, error) {
	return json.Marshal(append([]PatchOp{{"replace", "/metadata/managedFields", entries}}, Binding(live)...))
}

// Binding returns the operations that bind a JSON patch to the live object. They replace
// its uid and version instead of testing them. If these changed, the server then answers
// with a conflict, and not with an invalid request.
func Binding(live metav1.Object) []PatchOp {
	return []PatchOp{
		{"replace", "/metadata/uid", string(live.GetUID())},
		{"replace", "/metadata/resourceVersion", live.GetResourceVersion()},
	}
}

// appliedVersion returns the API version that lynq applied last, or "".
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
