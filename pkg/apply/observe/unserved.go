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

// unserved is a kind that the server does not serve. What is wanted of it is not
// there. What records name may be: in what the server keeps of a kind whose
// CustomResourceDefinition serves no version, or with the extension that an
// APIService led to. It is gone where a CustomResourceDefinition is that defined
// the kind, for the server deletes all objects first.
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
	definition string // that of a kind, "" where there is none
	others     bool   // there are some of other kinds
}

// definitions looks for that of a kind.
func (o *observer) definitions(ctx context.Context, k *wantedKind) (definitions, error) {
	var found definitions
	crds, err := o.cluster.Resource(ctx, groupDefinition, "", kindDefinition)
	if err != nil {
		return found, err
	}
	var names []string
	err = o.cluster.List(ctx, crds, "", "", func(m *metav1.PartialObjectMetadata) {
		if _, group, _ := strings.Cut(m.Name, "."); group == k.group {
			names = append(names, m.Name)
		}
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

// extended tells whether the server serves a group that no
// CustomResourceDefinition is of: itself, or with an extension.
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

// custom tells whether records say that the kind was defined by a
// CustomResourceDefinition, though nothing of its group is left: all such objects
// have a generation from the first, which those of extensions mostly lack.
func (k *wantedKind) custom() bool {
	custom := false
	for _, r := range k.entries {
		switch {
		case r.UID == "" || r.Digest == "": // it was not seen written
		case r.Generation == 0:
			return false
		default:
			custom = true
		}
	}
	return custom
}

// Undefined is nil where a kind that the server does not serve has no objects: it is
// not defined either. Else it says why no one knows which there are.
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
