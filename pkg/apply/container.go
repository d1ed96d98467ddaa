package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/container"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// maxNamed is how many of the objects in a container a message names.
const maxNamed = 3

// emptied is a Namespace or a CustomResourceDefinition that a node deletes.
type emptied struct {
	cluster Cluster
	ctx     context.Context
	dryRun  bool
	ref     lynq.Ref
	me      plan.Owner
	// wanted are the objects in it that nodes have, or are about to get; goes tells whether
	// the plans delete an object.
	wanted   []lynq.Ref
	goes     func(types.UID) bool
	defaults []lynq.NamespaceDefault
}

// inside names what a container holds that its deletion must not take away: what
// nodes want in it, and all that is left when the node's own objects are gone, but
// for what the control plane puts into every namespace and what belongs to other
// objects in it. An error means that no one knows.
func (c *emptied) inside() ([]string, error) {
	// Kinds may have come since the run began, and objects of them.
	if err := c.cluster.Refresh(c.ctx); err != nil {
		return nil, err
	}
	kinds, err := c.cluster.Listable(c.ctx)
	if err != nil {
		return nil, err
	}
	if c.ref.Kind != "Namespace" {
		return c.instances(kinds)
	}
	if len(c.wanted) > 0 {
		return namesOf(c.wanted), nil
	}
	contents := container.NewContents(kinds, c.defaults)
	kinds = slices.DeleteFunc(kinds, func(r lynq.APIResource) bool { return !r.Namespaced || container.Passing(r) })
	found, err := observe.Contents(c.ctx, c.cluster, kinds, c.ref.Name, func(r lynq.APIResource, m *metav1.PartialObjectMetadata) bool {
		ref := lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: m.Namespace, Name: m.Name}
		return !contents.ComesWithNamespace(ref, m) && !c.wouldBeGone(r, m)
	})
	if err != nil {
		return nil, fmt.Errorf("list the objects of namespace %s: %w", c.ref.Name, err)
	}
	return namesOf(found), nil
}

// wouldBeGone tells of a dry run, which deletes nothing, whether a run would have
// deleted an object before.
func (c *emptied) wouldBeGone(r lynq.APIResource, m *metav1.PartialObjectMetadata) bool {
	l := tracking.LiveOf(lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: m.Namespace, Name: m.Name}, m)
	return c.dryRun && (c.me.Tracks(&l) || c.goes(m.UID))
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
func (c *emptied) instances(kinds []lynq.APIResource) ([]string, error) {
	crd := c.ref.Name
	plural, group, _ := strings.Cut(crd, ".")
	i := slices.IndexFunc(kinds, func(r lynq.APIResource) bool { return r.Group == group && r.Plural == plural })
	if i < 0 {
		return nil, fmt.Errorf("%s are not served, so lynqctl can't tell whether objects exist (serve a version of them, or delete the definition and all objects of it with kubectl)", crd)
	}
	wanted := slices.DeleteFunc(slices.Clone(c.wanted), func(ref lynq.Ref) bool { return ref.Kind != kinds[i].Kind })
	if len(wanted) > 0 {
		return namesOf(wanted), nil
	}
	var found []string
	err := c.cluster.List(c.ctx, kinds[i], "", "", func(m *metav1.PartialObjectMetadata) {
		if !c.wouldBeGone(kinds[i], m) {
			found = append(found, lynq.Ref{Kind: kinds[i].Kind, Namespace: m.Namespace, Name: m.Name}.String())
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list the objects of %s: %w", crd, err)
	}
	return found, nil
}
