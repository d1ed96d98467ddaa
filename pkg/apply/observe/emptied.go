package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// maxInside limits the searches of a container, because kinds may vanish during a search.
const maxInside = 8

// Refresher is a Reader that can ask the server again which kinds it serves.
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
	// Wanted are the objects in the container that nodes own or are about to create. Goes
	// reports whether the plans delete an object.
	Wanted   []lynq.Ref
	Goes     func(types.UID) bool
	Defaults []lynq.NamespaceDefault
}

// Holds names the objects in a container that its deletion must not delete, or returns "".
// These are objects that nodes need, and all others except the node's own. Objects that the
// control plane creates in every namespace don't count, nor do objects that another object
// in it owns. An error means that lynqctl doesn't know.
func (c *Emptied) Holds(ctx context.Context) (string, error) {
	found, err := c.inside(ctx)
	for try := 0; meta.IsNoMatchError(err) && try < maxInside; try++ {
		found, err = c.inside(ctx) // a kind vanished since the server listed it
	}
	if err != nil || len(found) == 0 {
		return "", err
	}
	return phrase.Some(found), nil
}

func (c *Emptied) inside(ctx context.Context) ([]string, error) {
	// Other clients may have added kinds and objects since the run began.
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
	contents := tracking.NewContents(kinds, c.Defaults)
	kinds = slices.DeleteFunc(kinds, func(r lynq.APIResource) bool { return !r.Namespaced || tracking.Passing(r) })
	found, err := Contents(ctx, c.Cluster, kinds, c.Ref.Name, func(r lynq.APIResource, m *metav1.PartialObjectMetadata) bool {
		return !contents.ComesWithNamespace(refOf(r, m), m) && !c.wouldBeGone(r, m)
	})
	if err != nil {
		return nil, fmt.Errorf("list the objects of namespace %s: %w", c.Ref.Name, err)
	}
	return namesOf(found), nil
}

// wouldBeGone reports whether a real run would have deleted an object by now. It matters
// for dry runs only.
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

// instances returns the objects of the kind that a CustomResourceDefinition defines. Wanted
// has all kinds of its group, so instances selects this one.
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
	err := c.Cluster.List(ctx, kinds[i], "", "", func(m *metav1.PartialObjectMetadata) func() {
		if c.wouldBeGone(kinds[i], m) {
			return nil
		}
		ref := lynq.Ref{Kind: kinds[i].Kind, Namespace: m.Namespace, Name: m.Name}
		return func() { found = append(found, ref.String()) }
	})
	if err != nil {
		return nil, fmt.Errorf("list the objects of %s: %w", crd, err)
	}
	return found, nil
}
