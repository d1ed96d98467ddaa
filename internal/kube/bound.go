package kube

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/write"
)

// checkBound refuses a write that changes owners, finalizers, managers or marks of another
// object than the observed one. Another client may have changed these since, or created
// another object with the name. So such a write needs the uid and the version.
func checkBound(w *write.Request) error {
	if w.DryRun || creates(w) {
		return nil
	}
	ties, bound, err := boundTo(w)
	if err == nil && ties && !bound {
		err = unbound(w.Namespace, w.Name)
	}
	return err
}

// unbound is the error of a write that could hit another object than the observed one.
func unbound(namespace, name string) error {
	return fmt.Errorf("a write of %s/%s isn't bound to the observed object: this is a bug in lynqctl (report it)", namespace, name)
}

// boundTo reports whether a body changes the ties of its object, and whether it has the
// object's uid and version. An update without them would replace everything.
func boundTo(w *write.Request) (ties, bound bool, err error) {
	if w.Verb == write.JSONPatch {
		return patchBoundTo(w.Body)
	}
	var body struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	err = json.Unmarshal(w.Body, &body)
	has := func(field string) bool {
		var value string
		return json.Unmarshal(body.Metadata[field], &value) == nil && value != ""
	}
	ties = w.Verb == write.Update
	for field := range body.Metadata {
		// An apply leaves the labels and annotations that others applied.
		ties = ties || slices.Contains(tiesOf(w.Verb), field)
	}
	return ties, has("uid") && has("resourceVersion"), err
}

// tiesOf returns the fields of metadata that a verb changes only in the observed object.
func tiesOf(v write.Verb) []string {
	if v == write.Apply {
		return []string{"ownerReferences", "finalizers", "managedFields"}
	}
	return []string{"ownerReferences", "finalizers", "managedFields", "labels", "annotations"}
}

// patchBoundTo is boundTo for a JSON patch. Instead of the version, it may test each value
// that it removes.
func patchBoundTo(patch []byte) (ties, bound bool, err error) {
	var ops []struct{ Op, Path string }
	err = json.Unmarshal(patch, &ops)
	var uid, version bool
	tested, loose := map[string]bool{}, false
	for _, op := range ops {
		uid = uid || op.Path == "/metadata/uid" && op.Op != "remove"
		version = version || op.Path == "/metadata/resourceVersion" && op.Op != "remove"
		if op.Op == "test" {
			tested[op.Path] = true
			continue
		}
		if slices.ContainsFunc(tiesOf(write.JSONPatch), func(field string) bool { return strings.HasPrefix(op.Path, "/metadata/"+field) }) {
			ties, loose = true, loose || op.Op != "remove" || !tested[op.Path]
		}
	}
	return ties, uid && (version || !loose), err
}
