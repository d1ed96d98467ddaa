package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// maxNamed is how many of the objects in a container a message names.
const maxNamed = 3

// inside names what a container holds that its deletion must not take away: what
// nodes want in it, and all that is left when the node's own objects are gone, but
// for what the control plane puts into every namespace and what belongs to other
// objects in it. An error means that no one knows.
func (n *nodeRun) inside(s *stepRun) ([]string, error) {
	ctx := n.finishing
	// Kinds may have come since the run began, and objects of them.
	if err := n.Cluster.Refresh(ctx); err != nil {
		return nil, err
	}
	kinds, err := n.Cluster.Listable(ctx)
	if err != nil {
		return nil, err
	}
	wanted := n.departures.wanted[plan.ContainerKey(s.ref())]
	if s.ref().Kind != "Namespace" {
		return n.instances(ctx, kinds, s.ref().Name, wanted)
	}
	if len(wanted) > 0 {
		return namesOf(wanted), nil
	}
	contents := plan.NewNamespaceContents(kinds, n.plan.NamespaceDefaults)
	kinds = slices.DeleteFunc(kinds, func(r lynq.APIResource) bool { return !r.Namespaced || plan.Passing(r) })
	found, err := observe.Contents(ctx, n.Cluster, kinds, s.ref().Name, func(r lynq.APIResource, m *metav1.PartialObjectMetadata) bool {
		ref := lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: m.Namespace, Name: m.Name}
		return !contents.ComesWithNamespace(ref, m) && !n.wouldBeGone(r, m)
	})
	if err != nil {
		return nil, fmt.Errorf("look what namespace %s holds: %w", s.ref().Name, err)
	}
	return namesOf(found), nil
}

// wouldBeGone tells of a dry run, which deletes nothing, whether a run would have
// deleted an object before.
func (n *nodeRun) wouldBeGone(r lynq.APIResource, m *metav1.PartialObjectMetadata) bool {
	l := plan.LiveOf(lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: m.Namespace, Name: m.Name}, m)
	return n.Options.DryRun && (n.owner().Tracks(&l) || n.departures.uids[m.UID])
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
func (n *nodeRun) instances(ctx context.Context, kinds []lynq.APIResource, crd string, wanted []lynq.Ref) ([]string, error) {
	plural, group, _ := strings.Cut(crd, ".")
	i := slices.IndexFunc(kinds, func(r lynq.APIResource) bool { return r.Group == group && r.Plural == plural })
	if i < 0 {
		return nil, fmt.Errorf("%s are not served, so that it is unknown whether there are any (serve a version of them, or delete it by hand)", crd)
	}
	wanted = slices.DeleteFunc(slices.Clone(wanted), func(ref lynq.Ref) bool { return ref.Kind != kinds[i].Kind })
	if len(wanted) > 0 {
		return namesOf(wanted), nil
	}
	var found []string
	err := n.Cluster.List(ctx, kinds[i], "", "", func(m *metav1.PartialObjectMetadata) {
		if !n.wouldBeGone(kinds[i], m) {
			found = append(found, lynq.Ref{Kind: kinds[i].Kind, Namespace: m.Namespace, Name: m.Name}.String())
		}
	})
	if err != nil {
		return nil, fmt.Errorf("look for objects of %s: %w", crd, err)
	}
	return found, nil
}

// holdsOthers ends the deletion of a container that holds what is not the
// node's: true means that it did.
func (n *nodeRun) holdsOthers(s *stepRun) bool {
	found, err := n.inside(s)
	for try := 0; meta.IsNoMatchError(err) && try < maxTries; try++ {
		found, err = n.inside(s) // a kind went since the server told of it
	}
	if err != nil {
		n.failed(s, err)
		return true
	}
	if len(found) == 0 {
		return false
	}
	names := strings.Join(found[:min(maxNamed, len(found))], ", ")
	if more := len(found) - maxNamed; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	what := "what is not the node's"
	if s.Reason == plan.ReasonPruned {
		what = "more than what is pruned"
	}
	n.end(s, OutcomeFailed, "it is not deleted, since it holds "+what+": "+names+" (move or delete them, and run again)")
	return true
}
