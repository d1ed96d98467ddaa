package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/container"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// maxNamed is how many of the objects in a container a message names.
const maxNamed = 3

// maxInside bounds the searches of a container: kinds may go while one is under way.
const maxInside = 8

// Refresher is a Reader that asks the server again which kinds it serves.
type Refresher interface {
	Reader
	Refresh(ctx context.Context) error
}

// Emptied is a Namespace or a CustomResourceDefinition that a node deletes.
type Emptied struct {
	Cluster Refresher
	DryRun  bool
	Ref     lynq.Ref
	Me      plan.Owner
	// Wanted are the objects in it that nodes have, or are about to get; Goes tells whether
	// the plans delete an object.
	Wanted   []lynq.Ref
	Goes     func(types.UID) bool
	Defaults []lynq.NamespaceDefault
}

// Holds names what a container holds that its deletion must not take away, "" for nothing:
// what nodes want in it, and all that is left when the node's own objects are gone. What the
// control plane puts into every namespace, and what belongs to other objects in it, does
// not count. An error means that no one knows.
func (c *Emptied) Holds(ctx context.Context) (string, error) {
	found, err := c.inside(ctx)
	for try := 0; meta.IsNoMatchError(err) && try < maxInside; try++ {
		found, err = c.inside(ctx) // a kind went since the server told of it
	}
	if err != nil || len(found) == 0 {
		return "", err
	}
	names := strings.Join(found[:min(maxNamed, len(found))], ", ")
	if more := len(found) - maxNamed; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names, nil
}

func (c *Emptied) inside(ctx context.Context) ([]string, error) {
	// Kinds may have come since the run began, and objects of them.
	if err := c.Cluster.Refresh(ctx); err != nil {
		return nil, err
	}
	kinds, err := c.Cluster.Listable(ctx)
	if err != nil {
		return nil, err
	}
	if c.Ref.Kind != "Namespace" {
		return c.instances(ctx, kinds)
	}
	if len(c.Wanted) > 0 {
		return namesOf(c.Wanted), nil
	}
	contents := container.NewContents(kinds, c.Defaults)
	kinds = slices.DeleteFunc(kinds, func(r lynq.APIResource) bool { return !r.Namespaced || container.Passing(r) })
	found, err := Contents(ctx, c.Cluster, kinds, c.Ref.Name, func(r lynq.APIResource, m *metav1.PartialObjectMetadata) bool {
		return !contents.ComesWithNamespace(refOf(r, m), m) && !c.wouldBeGone(r, m)
	})
	if err != nil {
		return nil, fmt.Errorf("list the objects of namespace %s: %w", c.Ref.Name, err)
	}
	return namesOf(found), nil
}

// wouldBeGone tells of a dry run, which deletes nothing, whether a run would have
// deleted an object before.
func (c *Emptied) wouldBeGone(r lynq.APIResource, m *metav1.PartialObjectMetadata) bool {
	l := tracking.LiveOf(refOf(r, m), m)
	return c.DryRun && (c.Me.Tracks(&l) || c.Goes(m.UID))
}

func namesOf(refs []lynq.Ref) []string {
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = ref.Kind + "/" + ref.Name
	}
	return names
}

// instances are the objects of the kind that a CustomResourceDefinition defines.
// Nodes want these objects of the kinds of its group.
func (c *Emptied) instances(ctx context.Context, kinds []lynq.APIResource) ([]string, error) {
	crd := c.Ref.Name
	plural, group, _ := strings.Cut(crd, ".")
	i := slices.IndexFunc(kinds, func(r lynq.APIResource) bool { return r.Group == group && r.Plural == plural })
	if i < 0 {
		return nil, fmt.Errorf("%s are not served, so lynqctl can't tell whether objects exist (serve a version of them, or delete the definition and all objects of it with kubectl)", crd)
	}
	wanted := slices.DeleteFunc(slices.Clone(c.Wanted), func(ref lynq.Ref) bool { return ref.Kind != kinds[i].Kind })
	if len(wanted) > 0 {
		return namesOf(wanted), nil
	}
	var found []string
	err := c.Cluster.List(ctx, kinds[i], "", "", func(m *metav1.PartialObjectMetadata) {
		if !c.wouldBeGone(kinds[i], m) {
			found = append(found, lynq.Ref{Kind: kinds[i].Kind, Namespace: m.Namespace, Name: m.Name}.String())
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list the objects of %s: %w", crd, err)
	}
	return found, nil
}
