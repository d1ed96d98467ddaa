package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Observe reads the metadata of everything that nodes want or inventories name:
// one paged list per kind of what bears the hub's label, and a look at what is
// wanted and does not bear it. Any error means that nothing is known: an object
// that could not be read does not count as absent.
func Observe(ctx context.Context, c Cluster, hub string, nodes []*Node, inventories []*inventory.Inventory) (map[lynq.Ref]*Live, error) {
	o := &observer{cluster: c, hub: hub, live: map[lynq.Ref]*Live{}}
	kinds := wantedKinds(nodes, inventories)
	errs := make([]error, len(kinds))
	var reading sync.WaitGroup
	limit := make(chan struct{}, listsAtOnce)
	for i := range kinds {
		reading.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			errs[i] = o.kind(ctx, &kinds[i])
		})
	}
	reading.Wait()
	return o.live, errors.Join(errs...)
}

const (
	// listsAtOnce bounds the lists that a server answers at the same time.
	listsAtOnce = 8
	// looks is up to how many objects of a kind are looked at one by one.
	looks = 8
	// namespaceLists is up to how many namespaces are listed one by one.
	namespaceLists = 4
)

// wantedKind is a kind of object, and the objects of it that matter.
type wantedKind struct {
	group, version, kind string
	refs                 map[lynq.Ref]bool
	recorded             bool // some record names an object of it
}

// wantedKinds are the kinds of all objects that are wanted or recorded, each in
// one version, that of the forms where they have it.
func wantedKinds(nodes []*Node, inventories []*inventory.Inventory) []wantedKind {
	index := map[[2]string]int{}
	var kinds []wantedKind
	add := func(ref lynq.Ref, apiVersion string) *wantedKind {
		i, known := index[[2]string{ref.Group, ref.Kind}]
		if !known {
			_, version := lynq.SplitAPIVersion(apiVersion)
			i = len(kinds)
			index[[2]string{ref.Group, ref.Kind}] = i
			kinds = append(kinds, wantedKind{group: ref.Group, version: version, kind: ref.Kind, refs: map[lynq.Ref]bool{}})
		}
		kinds[i].refs[ref] = true
		return &kinds[i]
	}
	for _, n := range nodes {
		for i := range n.Objects {
			add(n.Objects[i].Ref, n.Objects[i].APIVersion)
		}
	}
	for _, inv := range inventories {
		for i := range inv.Records {
			add(inv.Records[i].Ref, inv.Records[i].APIVersion).recorded = true
		}
	}
	slices.SortFunc(kinds, func(a, b wantedKind) int {
		return strings.Compare(a.group+"/"+a.kind, b.group+"/"+b.kind)
	})
	return kinds
}

type observer struct {
	cluster Cluster
	hub     string
	mu      sync.Mutex
	live    map[lynq.Ref]*Live
}

// kind reads what there is of one kind.
func (o *observer) kind(ctx context.Context, k *wantedKind) error {
	r, err := o.cluster.Resource(ctx, k.group, k.version, k.kind)
	if meta.IsNoMatchError(err) {
		// A version that is served no more says nothing of the objects.
		if r, err = o.cluster.Resource(ctx, k.group, "", k.kind); meta.IsNoMatchError(err) {
			return o.unserved(ctx, k)
		}
	}
	if err != nil {
		return err
	}
	missing := k.refs
	// Records bear the hub's label too, and are as many as nodes.
	selector := lynq.LabelHub + "=" + o.hub + ",!" + lynq.LabelRecord
	err = o.cluster.List(ctx, r, "", selector, func(m *metav1.PartialObjectMetadata) {
		ref := lynq.Ref{Group: k.group, Kind: k.kind, Namespace: m.Namespace, Name: m.Name}
		if k.refs[ref] {
			o.keep(ref, m)
			delete(missing, ref)
		}
	})
	if err != nil {
		return fmt.Errorf("look for the objects of hub %q: %w", o.hub, err)
	}
	return o.missing(ctx, r, missing)
}

// Look looks at one recorded object by itself; nil is that there is none.
func Look(ctx context.Context, c Cluster, r *inventory.Record) (*Live, error) {
	_, version := lynq.SplitAPIVersion(r.APIVersion)
	served, err := c.Resource(ctx, r.Group, version, r.Kind)
	if meta.IsNoMatchError(err) {
		served, err = c.Resource(ctx, r.Group, "", r.Kind)
	}
	if err != nil {
		return nil, err
	}
	m, err := c.Metadata(ctx, served, r.Namespace, r.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := liveOf(r.Ref, m)
	return &l, nil
}

// unserved is a kind that the server does not serve: it has no objects, unless
// its CustomResourceDefinition is still there. Then those that records name may
// be there too, and come back with it.
func (o *observer) unserved(ctx context.Context, k *wantedKind) error {
	if !k.recorded || !strings.Contains(k.group, ".") {
		return nil
	}
	crds, err := o.cluster.Resource(ctx, "apiextensions.k8s.io", "", "CustomResourceDefinition")
	if err != nil {
		return err
	}
	var names []string
	err = o.cluster.List(ctx, crds, "", "", func(m *metav1.PartialObjectMetadata) {
		if strings.HasSuffix(m.Name, "."+k.group) {
			names = append(names, m.Name)
		}
	})
	if err != nil {
		return fmt.Errorf("look whether %s.%s, which records name and the server does not serve, is still defined: %w", k.kind, k.group, err)
	}
	for _, name := range names {
		crd, err := o.cluster.Get(ctx, crds, "", name)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look whether %s is that of kind %s: %w", name, k.kind, err)
		}
		if kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind"); kind == k.kind {
			return fmt.Errorf("kind %s.%s is not served, though CustomResourceDefinition %s defines it: nobody knows which of the recorded objects there are (serve a version of it, or delete the definition)", k.kind, k.group, name)
		}
	}
	return nil
}

func (o *observer) keep(ref lynq.Ref, m *metav1.PartialObjectMetadata) {
	l := liveOf(ref, m)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.live[ref] = &l
}

// missing looks for objects that do not bear the hub's label: one by one where
// they are few, else by listing their namespaces.
func (o *observer) missing(ctx context.Context, r lynq.APIResource, refs map[lynq.Ref]bool) error {
	if len(refs) <= looks {
		return o.look(ctx, r, refs)
	}
	byNamespace := map[string]bool{}
	for ref := range refs {
		byNamespace[ref.Namespace] = true
	}
	namespaces := []string{""}
	if len(byNamespace) <= namespaceLists {
		namespaces = namespaces[:0]
		for ns := range byNamespace {
			namespaces = append(namespaces, ns)
		}
		slices.Sort(namespaces)
	}
	for _, ns := range namespaces {
		err := o.cluster.List(ctx, r, ns, "", func(m *metav1.PartialObjectMetadata) {
			ref := lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: m.Namespace, Name: m.Name}
			if refs[ref] {
				o.keep(ref, m)
			}
		})
		if err != nil {
			return fmt.Errorf("look for objects that are there already: %w", err)
		}
	}
	return nil
}

// look looks at objects one by one.
func (o *observer) look(ctx context.Context, r lynq.APIResource, refs map[lynq.Ref]bool) error {
	var looking sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for ref := range refs {
		looking.Go(func() {
			m, err := o.cluster.Metadata(ctx, r, ref.Namespace, ref.Name)
			switch {
			case err == nil:
				o.keep(ref, m)
			case !apierrors.IsNotFound(err):
				mu.Lock()
				errs = append(errs, fmt.Errorf("look whether %s is there already: %w", ref, err))
				mu.Unlock()
			}
		})
	}
	looking.Wait()
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}
