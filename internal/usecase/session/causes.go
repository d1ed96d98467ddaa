package session

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// Limits of the cost: how many objects Causes asks about, and how long for each. An
// object costs two requests: the object and its pods. Objects of a namespace share a list
// of its warnings.
const (
	mostCauses    = 20
	mostChecks    = 60
	causePatience = 5 * time.Second
)

// Causes reads why objects don't get ready. It is safe for concurrent use.
type Causes struct {
	client   *kube.Client
	warnings warnings

	mu             sync.Mutex
	asked, checked int
}

// NewCauses returns the Causes of a cluster.
func NewCauses(client *kube.Client) *Causes {
	list := func(ctx context.Context, namespace string) ([]ready.Event, error) {
		return warningEvents(ctx, client, namespace)
	}
	return &Causes{client: client, warnings: warnings{list: list, now: time.Now}}
}

// Cause says in one line why an object isn't ready. It returns "" if it finds no cause, may
// not ask, or can't read one, because a cause only adds to what the user sees.
func (c *Causes) Cause(ctx context.Context, ref lynq.Ref) string {
	if !ready.Explains(ref.Group, ref.Kind) || !c.may(&c.asked, mostCauses) {
		return ""
	}
	return c.read(ctx, ref, ready.Cause)
}

// Stuck says in one line why an object can't become ready until somebody changes
// something. It returns "" if it finds no such cause, may not ask, or can't read one.
func (c *Causes) Stuck(ctx context.Context, ref lynq.Ref) string {
	if !ready.Explains(ref.Group, ref.Kind) || !c.may(&c.checked, mostChecks) {
		return ""
	}
	return c.read(ctx, ref, ready.Stuck)
}

// read reads an object, its pods and the warnings of its namespace, and finds a cause in
// them.
func (c *Causes) read(ctx context.Context, ref lynq.Ref, find func(*unstructured.Unstructured, []*unstructured.Unstructured, []ready.Event) string) string {
	ctx, cancel := context.WithTimeout(ctx, causePatience)
	defer cancel()
	resource, err := c.client.Resource(ctx, ref.Group, "", ref.Kind)
	if err != nil {
		return ""
	}
	o, err := c.client.Get(ctx, resource, ref.Namespace, ref.Name)
	if err != nil {
		return ""
	}
	return find(o, podsOf(ctx, c.client, ref, o), c.warnings.of(ctx, EventsIn(ref.Namespace)))
}

// may reports whether the Causes may ask about one more object.
func (c *Causes) may(asked *int, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	*asked++
	return *asked <= most
}

// podsOf reads the pods that a workload selects. It returns nil if none exist or lynqctl
// can't read them.
func podsOf(ctx context.Context, client *kube.Client, ref lynq.Ref, o *unstructured.Unstructured) []*unstructured.Unstructured {
	selector, ok := selectorOf(o)
	if !ok || len(OwnedLists(ref, o)) == 0 {
		return nil
	}
	resource, err := client.Resource(ctx, "", "v1", "Pod")
	if err != nil {
		return nil
	}
	var pods []*unstructured.Unstructured
	err = client.Objects(ctx, resource, ref.Namespace, selector, func(pod *unstructured.Unstructured) { pods = append(pods, pod) })
	if err != nil {
		return nil
	}
	return pods
}

// warningEvents reads the warnings of a namespace.
func warningEvents(ctx context.Context, client *kube.Client, namespace string) ([]ready.Event, error) {
	resource, err := client.Resource(ctx, "", "v1", "Event")
	if err != nil {
		return nil, err
	}
	var events []ready.Event
	err = client.Warnings(ctx, resource, namespace, func(o *unstructured.Unstructured) { events = append(events, causeEvent(status.EventOf(o))) })
	return events, err
}

// causeEvent keeps the parts of an event that Cause needs.
func causeEvent(e status.Event, of types.UID) ready.Event {
	return ready.Event{UID: string(of), Kind: e.Kind, Name: e.Name, Warning: e.Type == "Warning", Reason: e.Reason, Message: e.Message, Time: e.Time}
}

// OwnedList says which objects of a workload to list.
type OwnedList struct{ Group, Kind, Namespace, Selector string }

// OwnedLists returns the lists that find a workload's objects by its label selector.
func OwnedLists(ref lynq.Ref, o *unstructured.Unstructured) []OwnedList {
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
	lists := make([]OwnedList, len(kinds))
	for i, kind := range kinds {
		lists[i] = OwnedList{Kind: kind, Namespace: ref.Namespace, Selector: selector}
		if kind == "ReplicaSet" {
			lists[i].Group = "apps"
		}
	}
	return lists
}

// selectorOf returns a workload's selector as text for a list. It returns false for an
// empty selector, which would select everything.
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

// EventsIn returns the namespace of the events about an object in a namespace. For objects
// without one, that is the default namespace.
func EventsIn(namespace string) string {
	if namespace == "" {
		return metav1.NamespaceDefault
	}
	return namespace
}
