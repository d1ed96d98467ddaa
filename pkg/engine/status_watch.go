package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// conditionDeleted is what a watch shows of a node whose inventory is gone.
const conditionDeleted = "Deleted"

// StatusWatch is one run of WatchStatus. It is told of records by a watch of
// ConfigMaps, and looks at objects again and again.
type StatusWatch struct {
	o       *StatusOptions
	changed chan struct{} // has room for one

	mu     sync.Mutex
	nodes  map[types.NamespacedName]status.Node
	hubs   map[types.NamespacedName]*inventory.Hub // chosen or not
	news   map[types.NamespacedName]status.Node    // what changed and was not taken yet
	synced bool
	// live is how the objects are looked at, nil where nodes are shown as recorded.
	live *liveNodes
	// elsewhere are records of hubs that the watch is not told of.
	elsewhere []*inventory.Hub
	// old are the inventories of old formats, by which the namespaces of their hubs
	// are known.
	old map[types.NamespacedName]*inventory.Inventory
}

func newStatusWatch(o *StatusOptions, elsewhere []*inventory.Hub) *StatusWatch {
	return &StatusWatch{
		o: o, changed: make(chan struct{}, 1), elsewhere: elsewhere,
		nodes: map[types.NamespacedName]status.Node{}, hubs: map[types.NamespacedName]*inventory.Hub{},
		news: map[types.NamespacedName]status.Node{}, old: map[types.NamespacedName]*inventory.Inventory{},
	}
}

// WatchStatus shows how nodes are until the context ends.
func (e *Engine) WatchStatus(ctx context.Context, o *StatusOptions, show func(now time.Time, w *StatusWatch) error) error {
	ctx, cancel := Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.connectToLook(&o.Access)
	if err != nil {
		return err
	}
	_, elsewhere, err := o.look(ctx, client)
	if err != nil {
		return err
	}
	w := newStatusWatch(o, elsewhere)
	if !o.Recorded {
		w.live = newLiveNodes()
	}
	resource, err := client.Resource(ctx, "", "v1", "ConfigMap")
	if err != nil {
		return unread(ctx, err)
	}
	ended := make(chan error, 2)
	if w.live != nil {
		go func() { ended <- w.lookOn(ctx, client) }()
	}
	go func() {
		ended <- client.Watch(ctx, resource, apply.Scope{Namespace: o.Namespace, Labels: lynq.LabelRecord}, w)
	}()
	known := (*Error)(nil)
	switch err := w.follow(ended, func(now time.Time) error { return show(now, w) }); {
	case errors.As(err, &known):
		return err // of writing
	case err != nil:
		return unread(ctx, err)
	}
	timeout := (*TimeoutError)(nil)
	if s := w.Status(); s != nil && errors.As(context.Cause(ctx), &timeout) {
		return s.Ended()
	}
	return unread(ctx, context.Cause(ctx))
}

// follow shows what changes until the watch ends, and ages as time goes by.
func (w *StatusWatch) follow(ended <-chan error, show func(now time.Time) error) error {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case err := <-ended:
			return errors.Join(show(time.Now()), err)
		case <-w.changed:
		case <-second.C:
		}
		if err := show(time.Now()); err != nil {
			return Fail(err)
		}
	}
}

// Status is how nodes are, nil where that is not known yet. Which nodes have
// no record can be told only where all namespaces are watched.
func (w *StatusWatch) Status() *Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known() {
		return nil
	}
	s, counts := &Status{Warnings: w.live.told()}, w.counts()
	var ignored plan.Ignored
	for key, n := range w.nodes {
		switch {
		case counts(&n):
			s.Nodes = append(s.Nodes, n)
		case n.Hub != "":
			ignored.Broken = append(ignored.Broken, &inventory.UnreadableError{Namespace: key.Namespace, Name: key.Name, Hub: n.Hub, HubNamespace: n.HubNamespace})
		}
	}
	shown := slices.DeleteFunc(slices.Collect(maps.Values(w.hubs)), func(h *inventory.Hub) bool { return !w.o.showsHub(keyOfHub(h)) })
	w.o.addUnrendered(s, shown)
	status.Sort(s.Nodes)
	s.Ignored = ignored.Warnings()
	s.Hubs = w.o.sum(s.Nodes, shown)
	for i := range s.Hubs {
		if h := &s.Hubs[i]; h.Run != nil && w.o.Namespace == "" && w.o.whole() {
			h.Missing = max(h.Run.Nodes-h.Nodes, 0)
		}
	}
	return s
}

// counts tells which records count, as far as it is known by now.
func (w *StatusWatch) counts() func(*status.Node) bool {
	hubs := slices.Concat(w.elsewhere, slices.Collect(maps.Values(w.hubs)))
	counting := plan.NewCounting(hubs, slices.Collect(maps.Values(w.old)))
	chosen := w.o.hubsAmong(nil, counting)
	return func(n *status.Node) bool {
		if n.Hub == "" {
			return !counting.Apart(n.Namespace, chosen)
		}
		return counting.Counts(n.HubKey(), n.Namespace)
	}
}

// Take gives what changed since it was called last, the latest of each node, and
// all that are shown. A record that does not count may yet.
func (w *StatusWatch) Take() (news, shown []status.Node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known() || len(w.news) == 0 {
		return nil, nil
	}
	counts := w.counts()
	for key, n := range w.news {
		if counts(&n) {
			news = append(news, n)
			delete(w.news, key)
		}
	}
	status.Sort(news)
	shown = slices.Clone(news)
	for _, n := range w.nodes {
		if counts(&n) {
			shown = append(shown, n)
		}
	}
	return news, shown
}

// Read implements apply.WatchHandler.
func (w *StatusWatch) Read(o *unstructured.Unstructured) (note func()) {
	cm := &corev1.ConfigMap{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, cm); err != nil {
		return func() {} // what is no ConfigMap is no record
	}
	key := types.NamespacedName{Namespace: cm.Namespace, Name: cm.Name}
	if cm.Labels[lynq.LabelRecord] == lynq.RecordHub {
		h, err := inventory.DecodeHub(cm)
		return func() { w.seeHub(key, h, err) }
	}
	n, old, chosen := w.node(cm)
	if !chosen || w.o.Selector != nil && !w.o.Selector.Matches(labels.Set(cm.Labels)) {
		return func() { w.leaveOut(key) }
	}
	return func() { w.seeNode(key, n, old) }
}

// leaveOut forgets a node that was chosen perhaps, until its labels changed.
func (w *StatusWatch) leaveOut(key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.nodes[key]; known {
		delete(w.nodes, key)
		delete(w.news, key)
		w.notify()
	}
	delete(w.old, key)
	w.live.gone(key)
}

func (w *StatusWatch) seeNode(key types.NamespacedName, n status.Node, old *inventory.Inventory) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.old, key); old != nil {
		w.old[key] = old
	}
	if w.live != nil && n.Condition != status.Unreadable {
		w.live.changed(key) // how its objects are is not known yet
		return
	}
	w.note(key, n)
}

// note notes how a node is, under the lock.
func (w *StatusWatch) note(key types.NamespacedName, n status.Node) {
	before, known := w.nodes[key]
	w.nodes[key] = n
	if (!known || before != n) && (!w.o.FailedOnly || !n.Well || known && !before.Well) {
		w.news[key] = n
		w.notify()
	}
}

// node reads the record of a node, and whether the options choose it. Of one of an
// old format it gives what has to be known.
func (w *StatusWatch) node(cm *corev1.ConfigMap) (n status.Node, old *inventory.Inventory, chosen bool) {
	inv, err := inventory.Decode(cm)
	if broken := (*inventory.UnreadableError)(nil); errors.As(err, &broken) {
		n := status.OfBroken(broken)
		return n, nil, w.o.means(&n)
	}
	if err != nil {
		return status.Node{}, nil, false
	}
	if inv.Format != 0 {
		old = &inventory.Inventory{Namespace: inv.Namespace, Node: inv.Node, Hub: inv.Hub, HubNamespace: inv.HubNamespace, Format: inv.Format}
	}
	return (*status.Now)(nil).Of(inv), old, w.o.chooses(inv)
}

func (w *StatusWatch) seeHub(key types.NamespacedName, h *inventory.Hub, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.hubs, key)
	if err == nil {
		w.hubs[key] = h
	}
	w.notify()
}

// Gone implements apply.WatchHandler.
func (w *StatusWatch) Gone(namespace, name string, _ types.UID) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.hubs, key)
	delete(w.old, key)
	w.live.gone(key)
	if n, known := w.nodes[key]; known {
		delete(w.nodes, key)
		delete(w.news, key)
		if !w.counts()(&n) {
			return
		}
		n.Condition, n.Since, n.Message, n.Well = conditionDeleted, time.Time{}, "", false
		w.news[key] = n
		w.notify()
	}
}

// Synced implements apply.WatchHandler.
func (w *StatusWatch) Synced() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.synced = true
	w.live.wake()
	w.notify()
}

// notify has the change shown.
func (w *StatusWatch) notify() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}
