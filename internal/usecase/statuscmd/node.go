package statuscmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// looksAtOnce limits the parallel requests for one node.
const looksAtOnce = 8

// Nodes reads the live state of the nodes that the options name. If some don't exist, it
// returns the others together with an error.
func Nodes(ctx context.Context, e *session.Engine, o *session.InventoryOptions) ([]*NodeStatus, error) {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.ConnectToLook(&o.Access)
	if err != nil {
		return nil, err
	}
	return readNodes(ctx, client, o)
}

func readNodes(ctx context.Context, client *kube.Client, o *session.InventoryOptions) ([]*NodeStatus, error) {
	named, err := o.Named(ctx, client)
	if err != nil {
		return nil, err
	}
	var nodes []*NodeStatus
	for _, inv := range named.Inventories {
		l := newNodeLook(client, inv)
		l.look(ctx)
		if cause := context.Cause(ctx); cause != nil {
			return nil, session.Unread(ctx, cause)
		}
		nodes = append(nodes, &l.NodeStatus)
	}
	unrendered, err := unrendered(ctx, o, client, named)
	if err != nil {
		return nil, err
	}
	nodes = append(nodes, unrendered...)
	return nodes, named.Ended(o.NotFound(ctx, client, named.Missing))
}

// NotReady returns an error if some of the nodes aren't Ready.
func NotReady(nodes []*NodeStatus) error {
	var unwell []string
	for _, n := range nodes {
		if !n.Well {
			unwell = append(unwell, n.Name)
		}
	}
	switch {
	case len(unwell) == 0:
		return nil
	case len(nodes) == 1:
		return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: "node " + unwell[0] + " is not Ready"}
	}
	return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: fmt.Sprintf("%d of %s not Ready: %s", len(unwell), phrase.Count(len(nodes), "node"), strings.Join(unwell, ", "))}
}

// NodeStatus is the live state of a node.
type NodeStatus struct {
	status.Node
	// Recorded is the state that the last run recorded.
	Recorded status.Node
	Objects  []status.Object
	Orphans  []orphan.Orphan
	Events   []status.Event
	// Warnings name what lynqctl couldn't read.
	Warnings []string
}

// nodeLook reads the live objects of one node. If it can't read something, it still shows
// the rest. It never reads the contents of Secrets and ConfigMaps: for kinds that are ready
// once they exist, it reads only metadata.
type nodeLook struct {
	NodeStatus
	client    *kube.Client
	inventory *inventory.Inventory

	mu        sync.Mutex
	live      map[lynq.Ref]*tracking.Live
	misplaced map[lynq.Ref]*plan.ScopeError
	now       status.Now
	seen      map[lynq.Ref]status.Seen
	belonging []status.Seen
}

func newNodeLook(client *kube.Client, inv *inventory.Inventory) *nodeLook {
	return &nodeLook{
		client: client, inventory: inv, NodeStatus: NodeStatus{Recorded: status.Of(inv)},
		live: map[lynq.Ref]*tracking.Live{}, misplaced: map[lynq.Ref]*plan.ScopeError{}, seen: map[lynq.Ref]status.Seen{},
		now: status.Now{Ready: map[lynq.Ref]ready.Readiness{}, Unseen: map[lynq.NodeKey]bool{}},
	}
}

// look reads everything about the node.
func (l *nodeLook) look(ctx context.Context) {
	lists := map[session.OwnedList]bool{}
	entries := l.inventory.All()
	atOnce(len(entries), func(i int) {
		owned := l.object(ctx, &entries[i])
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, o := range owned {
			lists[o] = true
		}
	})
	below := slices.Collect(maps.Keys(lists))
	atOnce(len(below), func(i int) { l.list(ctx, below[i]) })
	l.findOrphans(ctx)
	l.readEvents(ctx)
	l.judge(ctx)
	slices.Sort(l.Warnings)
	l.Warnings = slices.Compact(l.Warnings)
}

// judge finds the node's state from what look read, with the rules of the list of nodes. An
// object that couldn't be read doesn't count as missing.
func (l *nodeLook) judge(ctx context.Context) {
	known, all := *l.inventory, []*inventory.Inventory{l.inventory}
	known.Entries = slices.DeleteFunc(slices.Clone(known.Entries), func(r inventory.Entry) bool { return l.seen[r.Ref].Unknown != nil })
	l.now.Findings = status.FindingsOf(status.Find(&status.Comparison{Inventories: []*inventory.Inventory{&known}, Live: l.live, Misplaced: l.misplaced}))
	l.now.Unseen[l.inventory.Node.Key()] = len(known.Entries) < len(l.inventory.Entries)
	l.now.Busy = busyHubs(ctx, l.client, &l.now, all)
	explain(ctx, l.client, &l.now, all)
	l.Node = l.now.Of(l.inventory)
	l.Well = l.Well && !l.now.Unseen[l.inventory.Node.Key()]
	l.Objects = status.Tree(l.inventory, &l.now, l.seen, l.belonging)
	status.ConcealEvents(l.inventory, l.Objects, l.Events)
}

// atOnce calls f for 0 to n-1, some of them in parallel.
func atOnce(n int, f func(i int)) {
	var running errgroup.Group
	running.SetLimit(looksAtOnce)
	for i := range n {
		running.Go(func() error {
			f(i)
			return nil
		})
	}
	_ = running.Wait() // no function returns an error
}

func (l *nodeLook) warn(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Warnings = append(l.Warnings, fmt.Sprintf(format, args...))
}

// object reads one object, and returns the lists of objects that belong to it.
func (l *nodeLook) object(ctx context.Context, r *inventory.Entry) []session.OwnedList {
	if r.Purged() {
		return nil // an object with this name isn't the node's
	}
	m, o, err := l.read(ctx, r)
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		s := status.Seen{Ref: r.Ref, Unknown: err}
		if apierrors.IsNotFound(err) || l.misplaced[r.Ref] != nil {
			s = status.Seen{Ref: r.Ref, Readiness: ready.Readiness{State: ready.StateGone}}
		}
		l.seen[r.Ref] = s
		return nil
	}
	s, live := l.seeing(ctx, r.Ref, o), tracking.LiveOf(r.Ref, m)
	s.Stopped = fields.Stopped(o, m.ManagedFields) && !live.Unmanaged && !r.Creation.Once()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[r.Ref], l.live[r.Ref] = s, &live
	if !kinds.ReadyOnceThere(r.Group, r.Kind) {
		l.now.Ready[r.Ref] = s.Readiness.AfterOthers(!live.LastButStatus)
	}
	return session.OwnedLists(r.Ref, o)
}

// read reads an object and its metadata. For kinds that are ready once they exist, it reads
// only the metadata.
func (l *nodeLook) read(ctx context.Context, r *inventory.Entry) (*metav1.PartialObjectMetadata, *unstructured.Unstructured, error) {
	_, version := lynq.SplitAPIVersion(r.APIVersion)
	resource, err := l.client.Resource(ctx, r.Group, version, r.Kind)
	if meta.IsNoMatchError(err) { // the server no longer serves this version
		resource, err = l.client.Resource(ctx, r.Group, "", r.Kind)
	}
	if err != nil {
		return nil, nil, err
	}
	if misplaced := plan.Fits(resource, r.Ref); misplaced != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.misplaced[r.Ref] = misplaced
		return nil, nil, misplaced
	}
	if !kinds.ReadyOnceThere(r.Group, r.Kind) {
		return l.client.ReadObject(ctx, resource, r.Namespace, r.Name)
	}
	m, err := l.client.Metadata(ctx, resource, r.Namespace, r.Name)
	if err != nil {
		return nil, nil, err
	}
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetUID(m.UID)
	o.SetCreationTimestamp(m.CreationTimestamp)
	o.SetOwnerReferences(m.OwnerReferences)
	o.SetDeletionTimestamp(m.DeletionTimestamp)
	o.SetFinalizers(m.Finalizers)
	return m, o, nil
}

// seeing keeps the needed parts of an object.
func (l *nodeLook) seeing(ctx context.Context, ref lynq.Ref, o *unstructured.Unstructured) status.Seen {
	r := ready.WithClass(o, func(name string) (*unstructured.Unstructured, error) {
		classes, err := l.client.Resource(ctx, "storage.k8s.io", "", "StorageClass")
		if err != nil {
			return nil, err
		}
		return l.client.Get(ctx, classes, "", name)
	})
	s := status.Seen{Ref: ref, UID: o.GetUID(), Created: o.GetCreationTimestamp().Time, Readiness: r}
	if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
		s.Owner = owner.UID
	}
	return s
}

// list reads the objects of workloads. It skips the old ReplicaSets of a Deployment, which
// have and need no pods.
func (l *nodeLook) list(ctx context.Context, list session.OwnedList) {
	resource, err := l.client.Resource(ctx, list.Group, "", list.Kind)
	if err != nil {
		l.warn("can't show the pods of workloads: %v", err)
		return
	}
	err = l.client.Objects(ctx, resource, list.Namespace, list.Selector, func(o *unstructured.Unstructured) {
		if list.Kind == "ReplicaSet" && idle(o) {
			return
		}
		ref := lynq.Ref{Group: list.Group, Kind: list.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
		seen := l.seeing(ctx, ref, o)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.belonging = append(l.belonging, seen)
	})
	if err != nil {
		l.warn("can't show the pods of workloads: %v", err)
	}
}

func idle(o *unstructured.Unstructured) bool {
	wanted, said, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
	there, _, thereErr := unstructured.NestedInt64(o.Object, "status", "replicas")
	return err == nil && thereErr == nil && said && wanted == 0 && there == 0
}

// findOrphans looks for objects that the node left behind, in all namespaces.
func (l *nodeLook) findOrphans(ctx context.Context) {
	found, err := orphan.Find(ctx, l.client, orphan.Query{
		Filter: orphan.Filter{Hubs: []string{l.inventory.Node.Hub.Name}, Nodes: []string{l.inventory.Node.String()}},
		Now:    time.Now(), Within: l.client.Namespaces(),
	})
	if err != nil {
		l.warn("can't list orphans: %v", err)
		return
	}
	l.Orphans = found.Orphans
	for _, w := range found.Warnings() {
		l.warn("%s", w)
	}
}

// readEvents reads the events of the node's inventory, its objects, and what belongs to
// those. It sends one list for each of their namespaces. The events of objects without a
// namespace are in the default namespace.
func (l *nodeLook) readEvents(ctx context.Context) {
	uids := map[types.UID]bool{types.UID(l.inventory.UID): true}
	namespaces := map[string]bool{l.inventory.Node.Namespace: true}
	for _, s := range slices.Concat(slices.Collect(maps.Values(l.seen)), l.belonging) {
		if s.UID != "" {
			uids[s.UID] = true
			namespaces[session.EventsIn(s.Namespace)] = true
		}
	}
	resource, err := l.client.Resource(ctx, "", "v1", "Event")
	if err != nil {
		l.warn("can't list events: %v", err)
		return
	}
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		err := l.client.Objects(ctx, resource, namespace, "", func(o *unstructured.Unstructured) {
			if e, of := status.EventOf(o); uids[of] {
				l.Events = append(l.Events, e)
			}
		})
		if err != nil {
			l.warn("can't list events: %v", err)
		}
	}
	status.SortEvents(l.Events)
}
