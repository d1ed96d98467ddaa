package observe

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
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
// serves no version, or if somebody removed its finalizer. They come back with the kind.
func (o *observer) unserved(ctx context.Context, k *wantedKind) error {
	if len(k.entries) == 0 {
		return nil
	}
	recorded := map[lynq.Ref]bool{}
	for _, r := range k.entries {
		recorded[r.Ref] = true
	}
	why := &plan.UnservedError{Group: k.group, Kind: k.kind}
	if !kinds.BuiltIn(k.group) { // no CustomResourceDefinition has such a group
		definition, err := o.definition(ctx, k.group, k.kind)
		if err != nil {
			return o.unread(ctx, recorded, fmt.Errorf("check whether %s.%s, which inventories name and the server doesn't serve, is still defined: %w", k.kind, k.group, err))
		}
		why.Definition = definition
	}
	o.unknown(recorded, why)
	return nil
}

// unservedVersions notes the objects that forms render in a version that the server doesn't
// serve, though it serves the kind. Lists show such objects in another version.
func (o *observer) unservedVersions(ctx context.Context, k *wantedKind) {
	gone := map[string]bool{}
	for _, version := range append(slices.Collect(maps.Values(k.versions)), k.version) {
		if _, err := o.cluster.Resource(ctx, k.group, version, k.kind); meta.IsNoMatchError(err) {
			gone[version] = true
		}
	}
	if len(gone) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for ref := range k.refs {
		if gone[cmp.Or(k.versions[ref], k.version)] {
			o.retired = append(o.retired, ref)
		}
	}
}

// retire marks the objects with a version that the server doesn't serve. It changes copies,
// because a watch keeps what it saw for later rounds.
func (o *observer) retire() {
	for _, ref := range o.retired {
		if seen := o.seen.Live[ref]; seen != nil {
			l := *seen
			l.Retired = true
			o.seen.Live[ref] = &l
		}
	}
}

// definition returns the name of the CustomResourceDefinition that defines a kind, or "".
func (o *observer) definition(ctx context.Context, of, kind string) (string, error) {
	crds, err := o.cluster.Resource(ctx, groupDefinition, "", kindDefinition)
	if err != nil {
		return "", err
	}
	var names []string
	err = o.cluster.List(ctx, crds, "", "", func(m *metav1.PartialObjectMetadata) func() {
		name := m.Name
		if _, group, _ := strings.Cut(name, "."); group != of {
			return nil
		}
		return func() { names = append(names, name) }
	})
	if err != nil {
		return "", err
	}
	for _, name := range names {
		crd, err := o.cluster.Get(ctx, crds, "", name)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return "", err
		}
		if defined, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind"); defined == kind {
			return name, nil
		}
	}
	return "", nil
}

// Undefined checks a kind that the server doesn't serve. It returns nil if no objects of
// the kind can exist, because nothing defines it. Otherwise the error says why lynqctl
// doesn't know which objects exist.
func Undefined(ctx context.Context, c Reader, group, kind string) error {
	if kinds.BuiltIn(group) {
		return nil
	}
	o := observer{cluster: c}
	definition, err := o.definition(ctx, group, kind)
	switch {
	case err != nil:
		return fmt.Errorf("check whether kind %s.%s, which the server doesn't serve, is still defined: %w", kind, group, err)
	case definition != "":
		return &plan.UnservedError{Group: group, Kind: kind, Definition: definition}
	}
	return nil
}
