package kube

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/write"
)

// checkBound refuses a write that changes owners, finalizers or managers, or removes marks,
// of another object than the observed one. Another client may have changed these since, or
// created another object with the name. So such a write needs the uid and the version. An
// apply needs only the uid, because it leaves what others applied. A JSON patch needs only
// the version, because no two objects share one.
func checkBound(w *write.Request) error {
	if w.DryRun || creates(w) {
		return nil
	}
	ties, uid, version, err := boundTo(w)
	if err != nil || !ties {
		return err
	}
	if !uid && w.Verb != write.JSONPatch || !version && w.Verb != write.Apply {
		return fmt.Errorf("a write of %s/%s isn't bound to the observed object: this is a bug in lynqctl (report it)", w.Namespace, w.Name)
	}
	return nil
}

// boundTo reports whether a body changes the ties of its object, and whether it has the
// object's uid and version.
func boundTo(w *write.Request) (ties, uid, version bool, err error) {
	if w.Verb == write.JSONPatch {
		return patchBoundTo(w.Body)
	}
	var body struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	err = json.Unmarshal(w.Body, &body)
	for field, value := range body.Metadata {
		switch field {
		case "ownerReferences", "finalizers", "managedFields":
			ties = true
		case "labels", "annotations":
			var keys map[string]any
			merges := w.Verb == write.MergePatch || w.Verb == write.StrategicPatch
			if merges && json.Unmarshal(value, &keys) == nil {
				for _, v := range keys {
					ties = ties || v == nil
				}
			}
		case "uid":
			uid = true
		case "resourceVersion":
			version = true
		}
	}
	return ties, uid, version, err
}

// patchBoundTo is boundTo for a JSON patch.
func patchBoundTo(patch []byte) (ties, uid, version bool, err error) {
	var ops []struct{ Op, Path string }
	err = json.Unmarshal(patch, &ops)
	for _, op := range ops {
		version = version || op.Path == "/metadata/resourceVersion" && op.Op != "remove"
		ties = ties || slices.ContainsFunc([]string{"ownerReferences", "finalizers", "managedFields", "labels", "annotations"}, func(field string) bool {
			return strings.HasPrefix(op.Path, "/metadata/"+field)
		})
	}
	return ties, false, version, err
}
