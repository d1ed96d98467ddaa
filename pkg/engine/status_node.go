package engine

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
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// looksAtOnce bounds the requests for one node that are sent at a time.
const looksAtOnce = 8

// StatusNodes looks at the nodes that the options name, as they are now. Those that
// there are come also with the error that tells of the others.
func (e *Engine) StatusNodes(ctx context.Context, o *InventoryOptions) ([]*NodeStatus, error) {
	ctx, cancel := Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.connectToLook(&o.Access)
	if err != nil {
		return nil, err
	}
	named, err := o.named(ctx, client)
	if err != nil {
		return nil, err
	}
	var nodes []*NodeStatus
	for _, inv := range named.inventories {
		l := &nodeLook{client: client, NodeStatus: NodeStatus{Inventory: inv}}
		l.look(ctx)
		if cause := context.Cause(ctx); cause != nil {
			return nil, unread(ctx, cause)
		}
		l.explain(ctx)
		l.Objects = status.Tree(inv, l.seen, l.belonging)
		nodes = append(nodes, &l.NodeStatus)
	}
	return nodes, named.ended(o.notFound(ctx, client, named.missing))
}

// NodeStatus is a node as it is now.
type NodeStatus struct {
	Inventory *inventory.Inventory
	Objects   []status.Object
	Orphans   []orphan.Orphan
	Events    []status.Event
	// Warnings are about what could not be read.
	Warnings []string
}

// nodeLook looks at the objects of one node as they are now. What cannot be read
// does not keep the rest from being shown. It never reads what is in a Secret or
// a ConfigMap: of kinds that are ready once they exist only metadata is read.
type nodeLook struct {
	NodeStatus
	client *kube.Client

	mu        sync.Mutex
	seen      map[lynq.Ref]status.Seen
	belonging []status.Seen
}

// look reads all there is.
func (l *nodeLook) look(ctx context.Context) {
	l.seen = map[lynq.Ref]status.Seen{}
	lists := map[ownedList]bool{}
	entries := l.Inventory.Entries
	atOnce(len(entries), func(i int) {
		seen, owned := l.object(ctx, &entries[i])
		l.mu.Lock()
		defer l.mu.Unlock()
		l.seen[seen.Ref] = seen
		for _, o := range owned {
			lists[o] = true
		}
	})
	below := slices.Collect(maps.Keys(lists))
	atOnce(len(below), func(i int) { l.list(ctx, below[i]) })
	l.findOrphans(ctx)
	l.readEvents(ctx)
	slices.Sort(l.Warnings)
	l.Warnings = slices.Compact(l.Warnings)
}

// explain adds why objects are not ready.
func (l *nodeLook) explain(ctx context.Context) {
	causes := newCauses(l.client)
	for ref, s := range l.seen {
		if s.State != ready.StateWaiting && s.State != ready.StateFailed {
			continue
		}
		if cause := causes.Cause(ctx, ref); cause != "" && !strings.Contains(s.Message, cause) {
			s.Message += "; " + cause
			l.seen[ref] = s
		}
	}
}

// atOnce calls f for 0 to n-1, some of them at a time.
func atOnce(n int, f func(i int)) {
	var running errgroup.Group
	running.SetLimit(looksAtOnce)
	for i := range n {
		running.Go(func() error {
			f(i)
			return nil
		})
	}
	_ = running.Wait() // no function has an error
}

func (l *nodeLook) warn(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Warnings = append(l.Warnings, fmt.Sprintf(format, args...))
}

// object looks at one object, and tells which lists have what belongs to it.
func (l *nodeLook) object(ctx context.Context, r *inventory.Entry) (status.Seen, []ownedList) {
	unknown := func(err error) (status.Seen, []ownedList) {
		if apierrors.IsNotFound(err) {
			return status.Seen{Ref: r.Ref, State: ready.StateGone}, nil
		}
		return status.Seen{Ref: r.Ref, State: status.StateUnknown, Message: err.Error()}, nil
	}
	_, version := lynq.SplitAPIVersion(r.APIVersion)
	resource, err := l.client.Resource(ctx, r.Group, version, r.Kind)
	if meta.IsNoMatchError(err) { // that version is served no more
		resource, err = l.client.Resource(ctx, r.Group, "", r.Kind)
	}
	if err != nil {
		return unknown(err)
	}
	if lynq.ReadyOnceThere(r.Group, r.Kind) {
		m, err := l.client.Metadata(ctx, resource, r.Namespace, r.Name)
		if err != nil {
			return unknown(err)
		}
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetDeletionTimestamp(m.DeletionTimestamp)
		o.SetFinalizers(m.Finalizers)
		return l.seeing(ctx, r.Ref, m, o), nil
	}
	o, err := l.client.Get(ctx, resource, r.Namespace, r.Name)
	if err != nil {
		return unknown(err)
	}
	return l.seeing(ctx, r.Ref, o, o), ownedLists(r.Ref, o)
}

// seeing is what is kept of an object.
func (l *nodeLook) seeing(ctx context.Context, ref lynq.Ref, m metav1.Object, o *unstructured.Unstructured) status.Seen {
	r := ready.WithClass(o, func(name string) (*unstructured.Unstructured, error) {
		classes, err := l.client.Resource(ctx, "storage.k8s.io", "", "StorageClass")
		if err != nil {
			return nil, err
		}
		return l.client.Get(ctx, classes, "", name)
	})
	s := status.Seen{Ref: ref, UID: m.GetUID(), Created: m.GetCreationTimestamp().Time, State: r.State, Message: r.Message}
	if owner := metav1.GetControllerOfNoCopy(m); owner != nil {
		s.Owner = owner.UID
	}
	return s
}

// ownedList is a list that has what belongs to a workload.
type ownedList struct{ group, kind, namespace, selector string }

// ownedLists are the lists for a workload: what it selects by labels.
func ownedLists(ref lynq.Ref, o *unstructured.Unstructured) []ownedList {
	kinds := []string{"Pod"}
	switch ref.GroupKind() {
	case "Deployment.apps":
		kinds = []string{"ReplicaSet", "Pod"}
	case "StatefulSet.apps", "DaemonSet.apps", "ReplicaSet.apps", "Job.batch":
	default:
		return nil
	}
	selector, ok := selectorOf(o)
	if !ok {
		return nil
	}
	lists := make([]ownedList, len(kinds))
	for i, kind := range kinds {
		lists[i] = ownedList{kind: kind, namespace: ref.Namespace, selector: selector}
		if kind == "ReplicaSet" {
			lists[i].group = "apps"
		}
	}
	return lists
}

// selectorOf is a workload's selector as a list takes it; false where it has
// none, for that would select everything.
func selectorOf(o *unstructured.Unstructured) (string, bool) {
	labels, _, err := unstructured.NestedStringMap(o.Object, "spec", "selector", "matchLabels")
	if err != nil {
		return "", false
	}
	selector := metav1.LabelSelector{MatchLabels: labels}
	expressions, _, err := unstructured.NestedSlice(o.Object, "spec", "selector", "matchExpressions")
	if err != nil {
		return "", false
	}
	for _, e := range expressions {
		fields, _ := e.(map[string]any)
		key, _, keyErr := unstructured.NestedString(fields, "key")
		operator, _, operatorErr := unstructured.NestedString(fields, "operator")
		values, _, valuesErr := unstructured.NestedStringSlice(fields, "values")
		if keyErr != nil || operatorErr != nil || valuesErr != nil {
			return "", false
		}
		selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: key, Operator: metav1.LabelSelectorOperator(operator), Values: values,
		})
	}
	s, err := metav1.LabelSelectorAsSelector(&selector)
	return s.String(), err == nil && !s.Empty()
}

// list reads what belongs to workloads. Of a Deployment's ReplicaSets those that
// are to have no pods, and have none, are history.
func (l *nodeLook) list(ctx context.Context, list ownedList) {
	resource, err := l.client.Resource(ctx, list.group, "", list.kind)
	if err != nil {
		l.warn("what belongs to workloads is not shown: %v", err)
		return
	}
	err = l.client.Objects(ctx, resource, list.namespace, list.selector, func(o *unstructured.Unstructured) {
		if list.kind == "ReplicaSet" && idle(o) {
			return
		}
		ref := lynq.Ref{Group: list.group, Kind: list.kind, Namespace: o.GetNamespace(), Name: o.GetName()}
		seen := l.seeing(ctx, ref, o, o)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.belonging = append(l.belonging, seen)
	})
	if err != nil {
		l.warn("what belongs to workloads is not shown: %v", err)
	}
}

func idle(o *unstructured.Unstructured) bool {
	wanted, said, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
	there, _, thereErr := unstructured.NestedInt64(o.Object, "status", "replicas")
	return err == nil && thereErr == nil && said && wanted == 0 && there == 0
}

// findOrphans looks for what the node left behind, wherever that is.
func (l *nodeLook) findOrphans(ctx context.Context) {
	found, err := orphan.Find(ctx, l.client, orphan.Query{
		Filter: orphan.Filter{Hubs: []string{l.Inventory.Hub}, Nodes: []string{l.Inventory.Namespace + "/" + l.Inventory.Node}},
		Now:    time.Now(),
	})
	if err != nil {
		l.warn("orphans are not known: %v", err)
		return
	}
	l.Orphans = found.Orphans
	for _, w := range found.Warnings() {
		l.warn("%s", w)
	}
}

// readEvents reads the events of the node's record, of its objects and of what
// belongs to them: one list for each of their namespaces. Those of objects
// without a namespace are in the default one.
func (l *nodeLook) readEvents(ctx context.Context) {
	uids := map[types.UID]bool{types.UID(l.Inventory.UID): true}
	namespaces := map[string]bool{l.Inventory.Namespace: true}
	for _, s := range slices.Concat(slices.Collect(maps.Values(l.seen)), l.belonging) {
		if s.UID != "" {
			uids[s.UID] = true
			namespaces[eventsIn(s.Namespace)] = true
		}
	}
	resource, err := l.client.Resource(ctx, "", "v1", "Event")
	if err != nil {
		l.warn("events are not known: %v", err)
		return
	}
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		err := l.client.Objects(ctx, resource, namespace, "", func(o *unstructured.Unstructured) {
			if e, of := status.EventOf(o); uids[of] {
				l.Events = append(l.Events, e)
			}
		})
		if err != nil {
			l.warn("events are not known: %v", err)
		}
	}
	status.SortEvents(l.Events)
}

func eventsIn(namespace string) string {
	if namespace == "" {
		return metav1.NamespaceDefault
	}
	return namespace
}
