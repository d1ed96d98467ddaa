package write

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// withoutMarks adds operations to a JSON patch, which may be nil. They remove the object's
// controller, and the marks of other tools and nodes. With these marks, another tool treats
// the object as its own, and may even delete it. It returns nil if there is nothing to do.
func withoutMarks(patch []byte, live *unstructured.Unstructured, controller types.UID) ([]byte, error) {
	b, err := markedObject(live)
	if err != nil {
		return nil, err
	}
	ops := removals("labels", b.Labels, append(b.Removable(true), lynq.NodeLabelKeys()...))
	ops = append(ops, removals("annotations", b.Annotations, b.Removable(false))...)
	owner := func(r metav1.OwnerReference) bool { return controller != "" && r.UID == controller }
	if i := slices.IndexFunc(live.GetOwnerReferences(), owner); i >= 0 {
		path := fmt.Sprintf("/metadata/ownerReferences/%d", i)
		ops = append(ops, fields.PatchOp{Op: "test", Path: path + "/uid", Value: string(controller)}, fields.PatchOp{Op: "remove", Path: path})
	}
	if len(ops) == 0 {
		return patch, nil
	}
	if patch == nil {
		return json.Marshal(append(ops, fields.Binding(live)...))
	}
	var rest []fields.PatchOp
	if err := json.Unmarshal(patch, &rest); err != nil {
		return nil, err
	}
	return json.Marshal(append(ops, rest...))
}

// removals returns the operations that remove the existing keys.
func removals(field string, live map[string]string, keys []string) []fields.PatchOp {
	var ops []fields.PatchOp
	for _, key := range keys {
		if _, there := live[key]; there {
			escaped := strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
			ops = append(ops, fields.PatchOp{Op: "remove", Path: "/metadata/" + field + "/" + escaped})
		}
	}
	return ops
}

// markedObject returns the part of a whole object that marks depend on.
func markedObject(live *unstructured.Unstructured) (*tracking.Object, error) {
	entries, err := fields.Entries(live)
	if err != nil {
		return nil, err
	}
	group, _ := lynq.SplitAPIVersion(live.GetAPIVersion())
	ref := lynq.Ref{Group: group, Kind: live.GetKind(), Namespace: live.GetNamespace(), Name: live.GetName()}
	return &tracking.Object{Ref: ref, Labels: live.GetLabels(), Annotations: live.GetAnnotations(), Managers: entries}, nil
}
