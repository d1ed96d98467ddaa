package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Nodes reads the metadata of all objects that a hub's nodes render or inventories list.
// One paged list for each kind finds the objects with the hub's label. Other objects cost
// one request each.
func Nodes(ctx context.Context, c Reader, hub string, nodes []*plan.Node, inventories []*inventory.Inventory) (*plan.Observed, error) {
	return (*Prefetch)(nil).Nodes(ctx, c, hub, nodes, inventories)
}

// SomeNodes works like Nodes for some nodes of a hub. of is the number of all nodes of the
// hub. If few objects of a kind are needed, it reads them one by one instead of a list of
// all.
func SomeNodes(ctx context.Context, c Reader, hub string, of int, nodes []*plan.Node, inventories []*inventory.Inventory) (*plan.Observed, error) {
	o := newObserver(c, hub).of(inventories)
	o.few = max(looks, of/listedPerLook)
	return o.observe(ctx, kindsIn(nodes, inventories))
}

func newObserver(c Reader, hub string) *observer {
	return &observer{cluster: c, hub: hub, seen: plan.Observed{
		Live: map[lynq.Ref]*tracking.Live{}, Unknown: map[lynq.Ref]error{}, Misplaced: map[lynq.Ref]*plan.ScopeError{},
		Unlisted: map[lynq.Ref]*tracking.Live{},
	}}
}

// of makes the observer keep objects that refer to these inventories, although nobody asks
// for them.
func (o *observer) of(inventories []*inventory.Inventory) *observer {
	o.inventories = make(map[types.UID]string, len(inventories))
	for _, inv := range inventories {
		if inv.UID != "" {
			o.inventories[types.UID(inv.UID)] = inv.Node.Namespace
		}
	}
	return o
}

// observe reads the objects of some kinds.
func (o *observer) observe(ctx context.Context, kinds []wantedKind) (*plan.Observed, error) {
	wanted := 0
	for i := range kinds {
		wanted += len(kinds[i].refs)
	}
	o.seen.Live = make(map[lynq.Ref]*tracking.Live, wanted)
	err := inParallel(len(kinds), func(i int) error { return o.kind(ctx, &kinds[i]) })
	if err != nil {
		return nil, err
	}
	o.share(kinds)
	o.retire()
	maps.DeleteFunc(o.seen.Unlisted, func(ref lynq.Ref, _ *tracking.Live) bool { return o.seen.Live[ref] != nil })
	return &o.seen, nil
}

// share lets objects and their entries keep equal texts once. A run keeps both for all
// nodes.
func (o *observer) share(kinds []wantedKind) {
	for i := range kinds {
		for _, r := range kinds[i].entries {
			l := o.seen.Live[r.Ref]
			if l == nil {
				continue
			}
			l.Ref = r.Ref
			shareText(&l.UID, r.UID)
			shareText(&l.ResourceVersion, r.ResourceVersion)
			shareText(&l.Fields, r.Fields)
			o.seen.Live[r.Ref] = l // Go then keeps the entry's texts in the key, too
		}
	}
}

// shareText makes an equal text use the memory of the other one.
func shareText[T ~string](own *T, other string) {
	if string(*own) == other {
		*own = T(other)
	}
}

// inParallel calls do with 0 to n-1, a few at a time. It returns the first error in their
// order, because the others are usually the same.
func inParallel(n int, do func(int) error) error {
	errs := make([]error, n)
	var reading errgroup.Group
	reading.SetLimit(readsAtOnce)
	for i := range n {
		reading.Go(func() error {
			errs[i] = do(i)
			return nil
		})
	}
	_ = reading.Wait() // errs has the errors in order
	return cmp.Or(errs...)
}

const (
	// readsAtOnce limits the concurrent reads.
	readsAtOnce = 8
	// looks is the largest number of objects of a kind that lynqctl reads one by one.
	looks = 8
	// listedPerLook is the number of objects that a server lists in the time of one single
	// read. The true number is higher, but pages follow each other.
	listedPerLook = 20
	// applySetsPerList limits the nodes in one list of copies, because their names are part
	// of the request's address.
	applySetsPerList = 50
	// namespaceLists is the largest number of namespaces that lynqctl lists one by one.
	namespaceLists = 4
)

type observer struct {
	cluster Reader
	hub     string
	few     int // see SomeNodes
	ahead   *Prefetch
	// inventories are the namespaces of the inventories with unlisted objects to keep, by uid.
	inventories map[types.UID]string
	mu          sync.Mutex
	seen        plan.Observed
	// retired are objects of a version that the server doesn't serve.
	retired []lynq.Ref
	// readiness reads the readiness too, if it isn't nil.
	readiness *readinessReader
}

// kind reads the objects of one kind.
func (o *observer) kind(ctx context.Context, k *wantedKind) error {
	r, err := served(ctx, o.cluster, k.group, k.version, k.kind)
	var unavailable *lynq.GroupUnavailableError
	switch {
	case meta.IsNoMatchError(err):
		return o.unserved(ctx, k)
	case errors.As(err, &unavailable):
		o.unknown(k.refs, err)
		return nil
	case err != nil:
		return err
	}
	o.unservedVersions(ctx, k)
	o.misplaced(r, k.refs)
	if len(k.refs) == 0 {
		return nil
	}
	if len(k.refs) <= o.few && len(k.replaced) == 0 {
		if err := o.look(ctx, r, k.refs); err != nil {
			return err
		}
		return o.copies(ctx, r, k.dropped, "")
	}
	err = o.labelled(ctx, k, r, func(ref lynq.Ref) bool {
		found := k.refs[ref]
		delete(k.refs, ref)
		return found
	})
	switch {
	case apierrors.IsForbidden(err):
		if err := o.apart(ctx, r, k.refs, fmt.Errorf("list the objects of hub %q: %w", o.hub, err)); err != nil {
			return err
		}
		return o.copies(ctx, r, o.seenOf(k.dropped, k.replaced), "")
	case err != nil:
		return o.unread(ctx, k.refs, fmt.Errorf("list the objects of hub %q: %w", o.hub, err))
	}
	if err := o.missing(ctx, r, k.refs, true); err != nil {
		return err
	}
	k.refs = nil // other kinds may still be read, and the objects of a kind can be many
	return o.copies(ctx, r, k.replaced, ","+wellknown.LabelHub+"!="+o.hub)
}

// hubSelector selects the objects of a hub. It leaves out inventories, which also have the
// label and are as many as nodes.
func hubSelector(hub string) string {
	return wellknown.LabelHub + "=" + hub + ",!" + wellknown.LabelRecord
}

// labelled lists a kind's objects with the hub's label. It keeps unlisted ones, and those
// for which meant is true.
func (o *observer) labelled(ctx context.Context, k *wantedKind, r lynq.APIResource, meant func(lynq.Ref) bool) error {
	namespace := onlyNamespace(k.refs)
	l := o.ahead.listed(ctx, k, r, namespace)
	if l == nil {
		return o.list(ctx, r, namespace, hubSelector(o.hub), meant)
	}
	if l.err != nil {
		return l.err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, live := range l.objects {
		o.sort(live, meant)
	}
	l.objects = nil
	return nil
}

// sort keeps an object if it is meant or unlisted. An owner is in the object's namespace, so
// an object elsewhere that names an inventory is none: lynqctl leaves it alone. The caller
// holds mu.
func (o *observer) sort(live *tracking.Live, meant func(lynq.Ref) bool) {
	switch {
	case meant(live.Ref):
		o.seen.Live[live.Ref] = live
	case slices.ContainsFunc(live.Owners, func(uid types.UID) bool {
		namespace, is := o.inventories[uid]
		return is && namespace == live.Namespace
	}):
		o.seen.Unlisted[live.Ref] = live
	}
}

// onlyNamespace returns the namespace of all objects, or "" if they are in several. A list
// of one namespace costs less, and needs no permission in others.
func onlyNamespace(refs map[lynq.Ref]bool) string {
	only, first := "", true
	for ref := range refs {
		if !first && ref.Namespace != only {
			return ""
		}
		only, first = ref.Namespace, false
	}
	return only
}

// served returns how the server serves a kind, in this version or in another one. If a
// version is no longer served, its objects may still exist.
func served(ctx context.Context, c Reader, group, version, kind string) (lynq.APIResource, error) {
	r, err := c.Resource(ctx, group, version, kind)
	if meta.IsNoMatchError(err) {
		r, err = c.Resource(ctx, group, "", kind)
	}
	return r, err
}

// misplaced finds objects that can't exist, because they have a namespace and their kind
// has none, or vice versa. It removes them from refs.
func (o *observer) misplaced(r lynq.APIResource, refs map[lynq.Ref]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for ref := range refs {
		if err := plan.Fits(r, ref); err != nil {
			o.seen.Misplaced[ref] = err
			delete(refs, ref)
		}
	}
}

// unread handles an error about requested objects. If the server answered, only these
// objects are unknown. Any other error ends the run's reads.
func (o *observer) unread(ctx context.Context, refs map[lynq.Ref]bool, err error) error {
	var answer apierrors.APIStatus
	if context.Cause(ctx) != nil || apierrors.IsUnauthorized(err) || !errors.As(err, &answer) && !meta.IsNoMatchError(err) {
		return err
	}
	o.unknown(refs, err)
	return nil
}

func (o *observer) unknown(refs map[lynq.Ref]bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for ref := range refs {
		o.seen.Unknown[ref] = err
	}
}

// apart reads objects of a kind without permission to list it in the whole cluster. The
// permission may exist in their namespaces. If it reads none of them, the error names the
// missing permission of the list.
func (o *observer) apart(ctx context.Context, r lynq.APIResource, refs map[lynq.Ref]bool, forbidden error) error {
	if err := o.missing(ctx, r, refs, false); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for ref := range refs {
		if o.seen.Unknown[ref] == nil {
			return nil
		}
	}
	for ref := range refs {
		o.seen.Unknown[ref] = forbidden
	}
	return nil
}

// seenOf returns the objects of ApplySets that lynqctl could read.
func (o *observer) seenOf(applySets ...map[lynq.Ref]string) map[lynq.Ref]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := map[lynq.Ref]string{}
	for _, some := range applySets {
		maps.Copy(seen, some)
	}
	maps.DeleteFunc(seen, func(ref lynq.Ref, _ string) bool { return o.seen.Unknown[ref] != nil })
	return seen
}

// copies finds copies of an inventory's objects that other lists lack. The garbage
// collector deletes them with the inventory. Copies have the label of its ApplySet, even if
// somebody gave them or the inventory to another hub. If the list fails, the original
// objects are unknown.
func (o *observer) copies(ctx context.Context, r lynq.APIResource, applySets map[lynq.Ref]string, also string) error {
	lists := copyListsOf(applySets)
	return inParallel(len(lists), func(i int) error {
		l := &lists[i]
		err := o.list(ctx, r, l.namespace, wellknown.LabelPartOf+" in ("+strings.Join(l.applySets, ",")+")"+also, func(lynq.Ref) bool { return false })
		if err != nil {
			return o.unread(ctx, l.refs, fmt.Errorf("list copies of objects that belong to the inventory: %w", err))
		}
		return nil
	})
}

// copyList is a list of copies in a namespace.
type copyList struct {
	namespace string
	applySets []string
	refs      map[lynq.Ref]bool // the objects of the inventories
}

// copyListsOf returns the lists to read for the objects of ApplySets.
func copyListsOf(applySets map[lynq.Ref]string) []copyList {
	var lists []copyList
	inOrder := slices.SortedFunc(maps.Keys(applySets), func(a, b lynq.Ref) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(applySets[a], applySets[b]))
	})
	for _, ref := range inOrder {
		last := len(lists) - 1
		known := last >= 0 && lists[last].namespace == ref.Namespace
		has := known && slices.Contains(lists[last].applySets, applySets[ref])
		if !known || !has && len(lists[last].applySets) == applySetsPerList {
			lists = append(lists, copyList{namespace: ref.Namespace, refs: map[lynq.Ref]bool{}})
			last++
		}
		if !has {
			lists[last].applySets = append(lists[last].applySets, applySets[ref])
		}
		lists[last].refs[ref] = true
	}
	return lists
}

// byNamespace groups objects by namespace.
func byNamespace(refs map[lynq.Ref]bool) map[string]map[lynq.Ref]bool {
	of := map[string]map[lynq.Ref]bool{}
	for ref := range refs {
		if of[ref.Namespace] == nil {
			of[ref.Namespace] = map[lynq.Ref]bool{}
		}
		of[ref.Namespace][ref] = true
	}
	return of
}

// Entry reads one recorded object. It returns nil if the object doesn't exist.
func Entry(ctx context.Context, c Reader, r *inventory.Entry) (*tracking.Live, error) {
	_, version := lynq.SplitAPIVersion(r.APIVersion)
	resource, err := served(ctx, c, r.Group, version, r.Kind)
	if err != nil {
		return nil, err
	}
	if !plan.SameScope(resource, r.Ref) {
		return nil, nil
	}
	m, err := c.Metadata(ctx, resource, r.Namespace, r.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := tracking.LiveOf(r.Ref, m)
	return &l, nil
}

// list reads a list of a kind, and keeps the objects for which meant is true.
func (o *observer) list(ctx context.Context, r lynq.APIResource, namespace, selector string, meant func(lynq.Ref) bool) error {
	refOf := func(m *metav1.PartialObjectMetadata) lynq.Ref {
		return lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: m.Namespace, Name: m.Name}
	}
	if o.readiness.judges(r) {
		return o.readiness.list(ctx, o, r, namespace, selector, refOf, meant)
	}
	return o.cluster.List(ctx, r, namespace, selector, func(m *metav1.PartialObjectMetadata) func() {
		live := tracking.LiveOf(refOf(m), m)
		return func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.sort(&live, meant)
		}
	})
}

func (o *observer) keep(ref lynq.Ref, m *metav1.PartialObjectMetadata) {
	l := tracking.LiveOf(ref, m)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen.Live[ref] = &l
}

// missing reads objects without the hub's label. It reads a few one by one. For more it
// lists their namespaces, or the whole cluster if whole permits it.
func (o *observer) missing(ctx context.Context, r lynq.APIResource, refs map[lynq.Ref]bool, whole bool) error {
	if len(refs) <= looks {
		return o.look(ctx, r, refs)
	}
	of := byNamespace(refs)
	if whole && len(of) > namespaceLists {
		of = map[string]map[lynq.Ref]bool{"": refs}
	}
	namespaces := slices.Sorted(maps.Keys(of))
	return inParallel(len(namespaces), func(i int) error {
		there := of[namespaces[i]]
		err := o.list(ctx, r, namespaces[i], "", func(ref lynq.Ref) bool { return there[ref] })
		if namespaces[i] == "" && r.Namespaced && apierrors.IsForbidden(err) {
			return o.missing(ctx, r, refs, false) // the permission may exist in each namespace
		}
		if err != nil {
			return o.unread(ctx, there, fmt.Errorf("look for existing objects: %w", err))
		}
		return nil
	})
}

// look reads objects one by one.
func (o *observer) look(ctx context.Context, r lynq.APIResource, refs map[lynq.Ref]bool) error {
	inOrder := slices.SortedFunc(maps.Keys(refs), func(a, b lynq.Ref) int { return strings.Compare(a.String(), b.String()) })
	return inParallel(len(inOrder), func(i int) error {
		ref := inOrder[i]
		m, err := o.cluster.Metadata(ctx, r, ref.Namespace, ref.Name)
		if err == nil {
			o.keep(ref, m)
			err = o.readiness.look(ctx, o, r, ref, m)
		}
		switch {
		case err == nil:
		case !apierrors.IsNotFound(err):
			return o.unread(ctx, map[lynq.Ref]bool{ref: true}, fmt.Errorf("check whether %s exists: %w", ref, err))
		}
		return nil
	})
}
