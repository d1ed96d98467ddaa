package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// checkOwners refuses a write that would change owner references without a permit: the
// garbage collector deletes by them. Without one, a write may only create or apply an
// object whose owners are inventories.
func checkOwners(w *apply.Write) error {
	if !bytes.Contains(w.Body, []byte("ownerReferences")) || w.Owners.Given() {
		return nil
	}
	owners, said, err := ownersIn(w)
	if err != nil || !said {
		return err
	}
	creates := w.Verb == apply.Create || w.Verb == apply.Apply
	if !creates || slices.ContainsFunc(owners, ofOthers) {
		return fmt.Errorf("a write of %s/%s has no permit to change its owner references: this is a fault of lynqctl (report it)", w.Namespace, w.Name)
	}
	return nil
}

// ofOthers tells whether an owner is not the inventory of a node.
func ofOthers(o metav1.OwnerReference) bool {
	_, inventory := lynq.OwnerNode(o.APIVersion, o.Kind, o.Name)
	return !inventory
}

// ownersIn are the owner references that a body sets. said is false where it leaves them
// alone.
func ownersIn(w *apply.Write) (owners []metav1.OwnerReference, said bool, err error) {
	if w.Verb == apply.JSONPatch {
		var ops []struct {
			Path string `json:"path"`
		}
		if err := json.Unmarshal(w.Body, &ops); err != nil {
			return nil, false, err
		}
		for _, op := range ops {
			said = said || strings.HasPrefix(op.Path, "/metadata/ownerReferences")
		}
		return nil, said, nil
	}
	var body struct {
		Metadata struct {
			OwnerReferences *json.RawMessage `json:"ownerReferences"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(w.Body, &body); err != nil || body.Metadata.OwnerReferences == nil {
		return nil, false, err
	}
	return owners, true, json.Unmarshal(*body.Metadata.OwnerReferences, &owners)
}
