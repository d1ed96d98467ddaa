package observe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// The kind of CustomResourceDefinitions.
const (
	groupDefinition = "apiextensions.k8s.io"
	kindDefinition  = "CustomResourceDefinition"
)

// unserved handles a kind that the server doesn't serve. Desired objects of the kind don't
// exist. Recorded ones may. The server keeps objects if their CustomResourceDefinition
// serves no version, and so does an extension without its APIService. If the
// CustomResourceDefinition was deleted, the objects don't exist, because the server deletes
// them first.
func (o *observer) unserved(ctx context.Context, k *wantedKind) error {
	if len(k.entries) == 0 {
		return nil
	}
	recorded := map[lynq.Ref]bool{}
	for _, r := range k.entries {
		recorded[r.Ref] = true
	}
	why := &plan.UnservedError{Group: k.group, Kind: k.kind}
	if kinds.BuiltIn(k.group) {
		o.unknown(recorded, why) // no CustomResourceDefinition has such a group
		return nil
	}
	group, err := o.definitions(ctx, k)
	switch {
	case err != nil:
		return o.unread(ctx, recorded, fmt.Errorf("check whether %s.%s, which inventories name and the server doesn't serve, is still defined: %w", k.kind, k.group, err))
	case group.definition != "":
		why.Definition = group.definition
	case group.others || k.defined:
		return nil
	default:
		extended, err := o.extended(ctx, k.group)
		if err != nil {
			return err
		}
		if !extended && k.custom() {
			return nil
		}
	}
	o.unknown(recorded, why)
	return nil
}

// definitions are the CustomResourceDefinitions of an API group.
type definitions struct {
	definition string // the one of the kind, or ""
	others     bool   // the group has definitions of other kinds
}

// definitions finds the definition of a kind and others of its group.
func (o *observer) definitions(ctx context.Context, k *wantedKind) (definitions, error) {
	var found definitions
	crds, err := o.cluster.Resource(ctx, groupDefinition, "", kindDefinition)
	if err != nil {
		return found, err
	}
	var names []string
	err = o.cluster.List(ctx, crds, "", "", func(m *metav1.PartialObjectMetadata) func() {
		name := m.Name
		if _, group, _ := strings.Cut(name, "."); group != k.group {
			return nil
		}
		return func() { names = append(names, name) }
	})
	if err != nil {
		return found, err
	}
	for _, name := range names {
		crd, err := o.cluster.Get(ctx, crds, "", name)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return found, err
		}
		if kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind"); kind == k.kind {
			found.definition = name
		} else {
			found.others = true
		}
	}
	return found, nil
}

// extended reports whether the server serves a group without any CustomResourceDefinition,
// itself or with an extension.
func (o *observer) extended(ctx context.Context, group string) (bool, error) {
	kinds, err := o.cluster.Listable(ctx)
	var unavailable *lynq.GroupUnavailableError
	if err != nil && !errors.As(err, &unavailable) {
		return false, err
	}
	for i := range kinds {
		if kinds[i].Group == group {
			return true, nil
		}
	}
	return false, nil
}

// custom reports whether entries prove that a CustomResourceDefinition defined the kind,
// even without other traces of its group. Such objects always have a generation, and
// objects of extensions mostly have none.
func (k *wantedKind) custom() bool {
	custom := false
	for _, r := range k.entries {
		switch {
		case r.UID == "" || r.Digest == "": // no run confirmed its write
		case r.Generation == 0:
			return false
		default:
			custom = true
		}
	}
	return custom
}

// Undefined checks a kind that the server doesn't serve. It returns nil if no objects of
// the kind can exist, because nothing defines it. Otherwise the error says why lynqctl
// doesn't know which objects exist.
func Undefined(ctx context.Context, c Reader, group, kind string) error {
	if kinds.BuiltIn(group) {
		return nil
	}
	o := observer{cluster: c}
	found, err := o.definitions(ctx, &wantedKind{group: group, kind: kind})
	switch {
	case err != nil:
		return fmt.Errorf("check whether kind %s.%s, which the server doesn't serve, is still defined: %w", kind, group, err)
	case found.definition != "":
		return &plan.UnservedError{Group: group, Kind: kind, Definition: found.definition}
	}
	return nil
}
