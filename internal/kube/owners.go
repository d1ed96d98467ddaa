package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// checkOwners refuses a write that adds an owner which its permit doesn't name, or changes
// owners without a permit, because the garbage collector deletes by owners. A dry run
// changes none. A write that creates an object may set an inventory as its owner without a
// permit.
func checkOwners(w *write.Request) error {
	if w.DryRun || !bytes.Contains(w.Body, []byte("ownerReferences")) {
		return nil
	}
	owners, said, err := ownersIn(w)
	if err != nil || !said {
		return err
	}
	refused := func(o metav1.OwnerReference) bool { return !w.Owners.Covers(o.UID) }
	if !w.Owners.Given() {
		if !creates(w) {
			return fmt.Errorf("a write of %s/%s has no permit to change its owner references: this is a bug in lynqctl (report it)", w.Namespace, w.Name)
		}
		refused = ofOthers
	}
	if i := slices.IndexFunc(owners, refused); i >= 0 {
		return fmt.Errorf("a write of %s/%s has no permit for owner %s/%s: this is a bug in lynqctl (report it)", w.Namespace, w.Name, owners[i].Kind, owners[i].Name)
	}
	return nil
}

// creates reports whether a write can only create an object.
func creates(w *write.Request) bool {
	return w.Verb == write.Create || w.Verb == write.Apply && bytes.Contains(w.Body, []byte(`"resourceVersion":"`+write.AbsentVersion+`"`))
}

// ofOthers reports whether an owner isn't a node's inventory.
func ofOthers(o metav1.OwnerReference) bool {
	_, inventory := wellknown.OwnerNode(o.APIVersion, o.Kind, o.Name)
	return !inventory
}

// ownersIn returns the owner references that a body sets. said is false if the body doesn't
// mention them.
func ownersIn(w *write.Request) (owners []metav1.OwnerReference, said bool, err error) {
	if w.Verb == write.JSONPatch {
		return ownersAdded(w.Body)
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

// ownersAdded works like ownersIn for a JSON patch, which sets the whole list or removes
// from it.
func ownersAdded(patch []byte) (owners []metav1.OwnerReference, said bool, err error) {
	const list = "/metadata/ownerReferences"
	var ops []struct {
		Op    string          `json:"op"`
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(patch, &ops); err != nil {
		return nil, false, err
	}
	for _, op := range ops {
		if !strings.HasPrefix(op.Path, list) {
			continue
		}
		said = true
		switch {
		case op.Op == "test", op.Op == "remove":
		case op.Path != list:
			return nil, true, fmt.Errorf("a JSON patch adds an owner by %s: this is a bug in lynqctl (report it)", op.Path)
		default:
			if err := json.Unmarshal(op.Value, &owners); err != nil {
				return nil, true, err
			}
		}
	}
	return owners, said, nil
}
