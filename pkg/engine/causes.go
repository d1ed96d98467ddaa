package engine

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// What asking for causes may cost: so many objects with three requests each (the
// object, its pods, the warnings of its namespace), and so long for each.
const (
	mostCauses    = 20
	causePatience = 5 * time.Second
)

// causes reads why objects do not get ready. It is safe for concurrent use.
type causes struct {
	client *kube.Client

	mu    sync.Mutex
	asked int
}

func newCauses(client *kube.Client) *causes { return &causes{client: client} }

// Cause says in a line why an object does not get ready, "" where nothing tells, or may
// be asked. What cannot be read says nothing: it is more than what is known already.
func (c *causes) Cause(ctx context.Context, ref lynq.Ref) string {
	if !ready.Explains(ref.Group, ref.Kind) || !c.may() {
		return ""
	}
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
	events, _ := warningEvents(ctx, c.client, ref.Namespace) // what is not known of them, pods may tell
	return ready.Cause(o, podsOf(ctx, c.client, ref, o), events)
}

// may tells whether one more object may be asked about.
func (c *causes) may() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return c.asked <= mostCauses
}

// podsOf reads the pods that a workload selects, nil where there are none or they
// cannot be read.
func podsOf(ctx context.Context, client *kube.Client, ref lynq.Ref, o *unstructured.Unstructured) []*unstructured.Unstructured {
	selector, ok := selectorOf(o)
	if !ok || len(ownedLists(ref, o)) == 0 {
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
	err = client.Warnings(ctx, resource, eventsIn(namespace), func(o *unstructured.Unstructured) { events = append(events, causeEvent(status.EventOf(o))) })
	return events, err
}

// causeEvent is what Cause has to know of an event.
func causeEvent(e status.Event, of types.UID) ready.Event {
	return ready.Event{UID: string(of), Kind: e.Kind, Name: e.Name, Warning: e.Type == "Warning", Reason: e.Reason, Message: e.Message, Time: e.Time}
}
