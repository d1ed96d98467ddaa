package handover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Looker finds the objects of LynqNodes. An object that it can't read never counts as absent.
// It lists each kind once, so all of its answers are of about the same time.
type Looker struct {
	cluster observe.Reader
	atOnce  int

	mu    sync.Mutex
	lists map[listKey]*list
}

type listKey struct{ group, kind, namespace, selector string }

// list is a list of objects. The first goroutine that needs it reads it.
type list struct {
	once    sync.Once
	objects []*metav1.PartialObjectMetadata
	err     error
}

// NewLooker returns a Looker that sends at most atOnce requests at a time.
func NewLooker(c observe.Reader, atOnce int) *Looker {
	return &Looker{cluster: c, atOnce: max(1, atOnce), lists: map[listKey]*list{}}
}

// Nodes finds the objects of LynqNodes, in the same order. It returns the context's error.
// Every other error is in the Err of an object.
func (l *Looker) Nodes(ctx context.Context, nodes []*Node) ([][]Found, error) {
	found := make([][]Found, len(nodes))
	var looking errgroup.Group
	looking.SetLimit(l.atOnce)
	for i, n := range nodes {
		looking.Go(func() error {
			found[i] = l.node(ctx, n)
			return nil
		})
	}
	_ = looking.Wait() // no function has an error
	return found, context.Cause(ctx)
}

// node finds the objects of one LynqNode: first those with a known name, then those whose name
// is a template, among its other objects.
func (l *Looker) node(ctx context.Context, n *Node) []Found {
	if ctx.Err() != nil {
		return nil
	}
	found := make([]Found, len(n.Resources))
	taken := map[lynq.Ref]bool{}
	for i := range n.Resources {
		r := &n.Resources[i]
		found[i] = foundOf(r)
		f := &found[i]
		if f.Served, f.Err = l.served(ctx, f.Group, r.APIVersion, r.Kind); f.Err != nil || f.Served.Kind == "" {
			continue // a kind that isn't served has no objects
		}
		f.Namespace = r.place(n, f.Served)
		if !r.open(f.Served) {
			taken[f.Ref] = true
			f.Meta, f.Err = l.get(ctx, f.Served, f.Ref)
		}
	}
	for i := range n.Resources {
		if r, f := &n.Resources[i], &found[i]; f.Err == nil && r.open(f.Served) {
			l.search(ctx, n, r, f, taken)
		}
	}
	return append(found, l.dropped(ctx, n, taken)...)
}

func foundOf(r *Resource) Found {
	group, _ := lynq.SplitAPIVersion(r.APIVersion)
	f := Found{
		Ref:        lynq.Ref{Group: group, Kind: r.Kind, Name: r.Name},
		APIVersion: r.APIVersion, ID: r.ID, Order: r.order,
		Lifecycle: r.Lifecycle,
	}
	return f
}

// place returns the namespace of a resource's object.
func (r *Resource) place(n *Node, served lynq.APIResource) string {
	switch {
	case !served.Namespaced:
		return ""
	case r.Namespace == "":
		return n.Namespace
	}
	return r.Namespace
}

// open reports whether a resource's namespace or name is a template, so that lynqctl must
// search its object.
func (r *Resource) open(served lynq.APIResource) bool {
	return served.Kind != "" && (r.nameIsOpen || served.Namespaced && r.namespaceIsOpen)
}

// served returns the resource of a kind. The result has no kind if the server neither serves
// nor defines it.
func (l *Looker) served(ctx context.Context, group, apiVersion, kind string) (lynq.APIResource, error) {
	_, version := lynq.SplitAPIVersion(apiVersion)
	r, err := l.cluster.Resource(ctx, group, version, kind)
	if meta.IsNoMatchError(err) {
		r, err = l.cluster.Resource(ctx, group, "", kind)
	}
	if meta.IsNoMatchError(err) {
		return lynq.APIResource{}, observe.Undefined(ctx, l.cluster, group, kind)
	}
	return r, err
}

// get reads the metadata of one object. It returns nil if the object doesn't exist.
func (l *Looker) get(ctx context.Context, r lynq.APIResource, ref lynq.Ref) (*metav1.PartialObjectMetadata, error) {
	m, err := l.cluster.Metadata(ctx, r, ref.Namespace, ref.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return m, err
}

// search finds the object of a resource whose name or namespace is a template. It is the one
// of its kind that has this LynqNode's tracking, fits the known part of its name, and
// belongs to no other resource. If several objects fit, that is an error.
func (l *Looker) search(ctx context.Context, n *Node, r *Resource, f *Found, taken map[lynq.Ref]bool) {
	own, err := l.own(ctx, n, f.Served, r.nameIsOpen)
	if err != nil {
		f.Err = err
		return
	}
	var fitting []*metav1.PartialObjectMetadata
	var names []string
	for _, m := range own {
		ref := lynq.Ref{Group: f.Group, Kind: f.Kind, Namespace: m.Namespace, Name: m.Name}
		fits := (r.nameIsOpen || m.Name == r.Name) && (!f.Served.Namespaced || r.namespaceIsOpen || m.Namespace == f.Namespace)
		if fits && !taken[ref] {
			fitting, names = append(fitting, m), append(names, ref.Full())
		}
	}
	switch len(fitting) {
	case 0:
		return
	case 1:
		f.Meta = fitting[0]
		f.Namespace, f.Name = f.Meta.Namespace, f.Meta.Name
		taken[f.Ref] = true
		return
	}
	slices.Sort(names)
	f.Err = fmt.Errorf("lynqctl can't tell which object resource %q makes, because its name or namespace is a template. This LynqNode has all of these: %s (hand over the clear ones with the others, or delete or rename the unneeded ones)", r.ID, strings.Join(names, ", "))
}

// own lists the objects of a kind with a LynqNode's tracking: those with its labels in all
// namespaces, and those that it owns in its own namespace.
func (l *Looker) own(ctx context.Context, n *Node, r lynq.APIResource, namesOpen bool) ([]*metav1.PartialObjectMetadata, error) {
	labelled, err := l.list(ctx, r, "", wellknown.LabelNode)
	if err != nil {
		return nil, err
	}
	var owned []*metav1.PartialObjectMetadata
	if namesOpen || r.Namespaced {
		namespace := ""
		if r.Namespaced {
			namespace = n.Namespace
		}
		if owned, err = l.list(ctx, r, namespace, ""); err != nil {
			return nil, err
		}
	}
	var own []*metav1.PartialObjectMetadata
	seen := map[types.UID]bool{}
	for _, m := range slices.Concat(labelled, owned) {
		live := tracking.LiveOf(lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: m.Namespace, Name: m.Name}, m)
		if !seen[m.UID] && bondsOf(n, m, &live).any() {
			seen[m.UID] = true
			own = append(own, m)
		}
	}
	return own, nil
}

func (l *Looker) list(ctx context.Context, r lynq.APIResource, namespace, selector string) ([]*metav1.PartialObjectMetadata, error) {
	key := listKey{r.Group, r.Kind, namespace, selector}
	l.mu.Lock()
	one := l.lists[key]
	if one == nil {
		one = &list{}
		l.lists[key] = one
	}
	l.mu.Unlock()
	one.once.Do(func() {
		one.err = l.cluster.List(ctx, r, namespace, selector, func(m *metav1.PartialObjectMetadata) func() {
			return func() { one.objects = append(one.objects, m) }
		})
	})
	return one.objects, one.err
}

// dropped finds the objects that the operator applied and that the LynqNode no longer wants.
// Their keys have no group. The group counts in which the object has this LynqNode's
// tracking.
func (l *Looker) dropped(ctx context.Context, n *Node, taken map[lynq.Ref]bool) []Found {
	var found []Found
	for _, key := range n.droppedKeys() {
		ref, id, err := parseKey(key)
		if err != nil {
			found = append(found, Found{Ref: lynq.Ref{Kind: "Unknown", Name: key}, Err: err})
			continue
		}
		if f := l.droppedObject(ctx, n, ref, id, taken); f != nil {
			found = append(found, *f)
		}
	}
	return found
}

// droppedObject returns nil if the LynqNode has no object of that name.
func (l *Looker) droppedObject(ctx context.Context, n *Node, ref lynq.Ref, id string, taken map[lynq.Ref]bool) *Found {
	f := Found{Ref: ref, ID: id, Dropped: true}
	kinds, err := l.cluster.Listable(ctx)
	if err != nil {
		f.Err = fmt.Errorf("find out which kind %s is: %w", ref.Kind, err)
		return &f
	}
	var candidates []Found
	for _, r := range kinds {
		if r.Kind != ref.Kind {
			continue
		}
		all, err := l.named(ctx, n, r, ref)
		if err != nil {
			f.Err = fmt.Errorf("look whether it is the one that resource %q made: %w", id, err)
			return &f
		}
		for _, m := range all {
			c := droppedOf(r, m, id)
			live := tracking.LiveOf(c.Ref, m)
			if !taken[c.Ref] && bondsOf(n, m, &live).any() {
				candidates = append(candidates, c)
			}
		}
	}
	switch len(candidates) {
	case 0:
		return nil
	case 1:
		return &candidates[0]
	}
	var names []string
	for i := range candidates {
		names = append(names, candidates[i].Full())
	}
	slices.Sort(names)
	f.Err = fmt.Errorf("lynqctl can't tell which object resource %q made. This LynqNode has all of these: %s (delete the unneeded ones)", id, strings.Join(names, ", "))
	return &f
}

// named returns the objects of a kind that a key without a group may mean.
func (l *Looker) named(ctx context.Context, n *Node, r lynq.APIResource, ref lynq.Ref) ([]*metav1.PartialObjectMetadata, error) {
	if r.Namespaced && isTemplate(ref.Namespace) {
		own, err := l.own(ctx, n, r, false)
		return slices.DeleteFunc(own, func(m *metav1.PartialObjectMetadata) bool { return m.Name != ref.Name }), err
	}
	at := lynq.Ref{Namespace: ref.Namespace, Name: ref.Name}
	if !r.Namespaced {
		at.Namespace = ""
	}
	m, err := l.get(ctx, r, at)
	if m == nil {
		return nil, err
	}
	return []*metav1.PartialObjectMetadata{m}, nil
}

// droppedOf returns a dropped object with the policies of its annotations. Without a deletion
// policy, lynqctl retains it.
func droppedOf(r lynq.APIResource, m *metav1.PartialObjectMetadata, id string) Found {
	ref := lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: m.Namespace, Name: m.Name}
	f := Found{
		Ref: ref, Served: r, APIVersion: r.APIVersion(), ID: id, Meta: m, Dropped: true,
		Lifecycle: lynq.DefaultPolicy().Lifecycle,
	}
	f.Deletion = lynq.DeleteRetain
	if m.Annotations[wellknown.AnnotationDeletionPolicy] == string(lynq.DeleteDelete) {
		f.Deletion = lynq.DeleteDelete
	}
	if m.Annotations[wellknown.AnnotationCreatedOnce] == "true" {
		f.Creation = lynq.CreateOnce
	}
	return f
}

// droppedKeys returns the keys of applied objects that no resource wants any more.
func (n *Node) droppedKeys() []string {
	wanted := map[string]bool{}
	for i := range n.Resources {
		r := &n.Resources[i]
		namespace := r.Namespace
		if namespace == "" {
			namespace = n.Namespace
		}
		wanted[r.Kind+"/"+namespace+"/"+r.Name+"@"+r.ID] = true
		wanted[r.Kind+"/"+namespace+"/@"+r.ID] = true // without a template for the name
	}
	var dropped []string
	for _, key := range n.Applied {
		if !wanted[key] && !slices.Contains(dropped, key) {
			dropped = append(dropped, key)
		}
	}
	slices.Sort(dropped)
	return dropped
}

var errKey = errors.New("status.appliedResources has a key that is not Kind/Namespace/Name@id, so that its meaning is unknown (take it out)")

// parseKey reads Kind/Namespace/Name@id. For objects without a namespace, the key has the
// namespace of their LynqNode.
func parseKey(key string) (lynq.Ref, string, error) {
	at := strings.LastIndexByte(key, '@')
	if at < 0 {
		return lynq.Ref{}, "", errKey
	}
	kind, rest, ok := strings.Cut(key[:at], "/")
	slash := strings.LastIndexByte(rest, '/')
	if !ok || slash < 0 || kind == "" || rest[slash+1:] == "" {
		return lynq.Ref{}, "", errKey
	}
	return lynq.Ref{Kind: kind, Namespace: rest[:slash], Name: rest[slash+1:]}, key[at+1:], nil
}
