package fields

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Replacement returns the body of an update that gives a live object the content of a
// manifest. It is valid only for the live object's uid and resourceVersion. It keeps parts
// of the live object that the manifest lacks and must not remove:
//
//   - finalizers, and the owner references of others;
//   - labels and annotations that Kubernetes itself writes (see systemKey);
//   - the status;
//   - fields that others set through a subresource, such as the replicas of an
//     autoscaler, even if the server records no manager for them;
//   - fields of the object's own controllers (see controls);
//   - fields that the server, a controller or an injector fills (see kinds.FilledFields).
//
// It doesn't change the manifest.
func Replacement(desired map[string]any, live *unstructured.Unstructured) (map[string]any, error) {
	managed, err := Managed(live)
	if err != nil {
		return nil, err
	}
	body := FoldSecret(runtime.DeepCopyJSON(desired))
	if newComparer(lynq.PatchReplace, body).builtIn {
		DropNulls(body)
	}
	for i := range managed {
		if keepsFields(body, managed, &managed[i]) {
			owners := fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "ownerReferences")) // see keepOwners
			keepSet(body, live.Object, managed[i].fields.RecursiveDifference(owners).Leaves())
		}
	}
	keepFilled(body, live.Object, managed)
	if empty(body["status"]) {
		delete(body, "status")
	}
	keepMissing(body, live.Object, "status")

	metadata := mapAt(body, "metadata")
	metadata["uid"], metadata["resourceVersion"] = string(live.GetUID()), live.GetResourceVersion()
	keepStrings(metadata, "labels", live.GetLabels(), keptKey(live))
	keepStrings(metadata, "annotations", live.GetAnnotations(), systemKey)
	keepFinalizers(metadata, live.GetFinalizers())
	keepOwners(metadata, live)
	return body, nil
}

// DropNulls removes nulls, so that the server sets its defaults.
func DropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			if child == nil {
				delete(v, key)
			} else {
				DropNulls(child)
			}
		}
	case []any:
		for _, item := range v {
			DropNulls(item)
		}
	}
}

// keepMissing copies fields that the body lacks.
func keepMissing(body, live map[string]any, fields ...string) {
	for _, field := range fields {
		if _, said := body[field]; said {
			continue
		}
		if v, ok := live[field]; ok {
			body[field] = runtime.DeepCopyJSONValue(v)
		}
	}
}

// keepTemplateLabels keeps the labels with which a Job finds its pods.
func keepTemplateLabels(body, live map[string]any) {
	labels, _, _ := unstructured.NestedStringMap(live, "spec", "template", "metadata", "labels")
	template, ok, _ := unstructured.NestedFieldNoCopy(body, "spec", "template")
	spec, is := template.(map[string]any)
	if !ok || !is || len(labels) == 0 {
		return
	}
	have := mapAt(mapAt(spec, "metadata"), "labels")
	for key, v := range labels {
		if _, said := have[key]; !said && jobLabel(key) {
			have[key] = v
		}
	}
}

// systemKey reports whether Kubernetes itself writes a label or annotation on objects of
// others.
func systemKey(key string) bool {
	switch key {
	case "kubernetes.io/metadata.name", "kubernetes.io/service-account.uid", "deprecated.daemonset.template.generation":
		return true
	}
	domain, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	switch domain {
	case "deployment.kubernetes.io", "pv.kubernetes.io", "volume.kubernetes.io", "volume.beta.kubernetes.io", "batch.kubernetes.io", "topology.kubernetes.io":
		return true
	}
	return false
}

// jobLabel reports whether Jobs find their pods by a label.
func jobLabel(key string) bool {
	return strings.HasPrefix(key, "batch.kubernetes.io/") || key == "controller-uid" || key == "job-name"
}

// keptKey reports which labels of an object Kubernetes itself writes.
func keptKey(live *unstructured.Unstructured) func(string) bool {
	if live.GetAPIVersion() == "batch/v1" && live.GetKind() == "Job" {
		return func(key string) bool { return systemKey(key) || jobLabel(key) }
	}
	return systemKey
}

func keepStrings(metadata map[string]any, field string, live map[string]string, kept func(string) bool) {
	for key, v := range live {
		if !kept(key) {
			continue
		}
		if m := mapAt(metadata, field); m[key] == nil {
			m[key] = v
		}
	}
}

func keepFinalizers(metadata map[string]any, live []string) {
	kept := make([]any, 0, len(live))
	for _, f := range live {
		kept = append(kept, f)
	}
	wanted, _ := metadata["finalizers"].([]any)
	for _, f := range wanted {
		if !slices.Contains(kept, f) {
			kept = append(kept, f)
		}
	}
	setOrDelete(metadata, "finalizers", kept)
}

// keepOwners keeps the owners that others set. If the manifest has owners, it decides which
// inventory owns the object.
func keepOwners(metadata map[string]any, live *unstructured.Unstructured) {
	owners, said := metadata["ownerReferences"].([]any)
	have, _, _ := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	var kept []any
	for _, o := range have {
		if !said || !wellknown.IsOwnerNode(o) && findBy("uid", owners, o) < 0 {
			kept = append(kept, o)
		}
	}
	setOrDelete(metadata, "ownerReferences", append(kept, owners...))
}
