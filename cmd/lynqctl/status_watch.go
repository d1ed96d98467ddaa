package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// conditionDeleted is what a watch shows of a node whose record went.
const conditionDeleted = "Deleted"

// statusWatch is one run of status --watch. It is told of records by a watch of
// ConfigMaps.
type statusWatch struct {
	flags   *statusFlags
	changed chan struct{} // has room for one

	mu     sync.Mutex
	nodes  map[types.NamespacedName]status.Node
	hubs   map[types.NamespacedName]*inventory.Hub // chosen or not
	news   map[types.NamespacedName]status.Node    // what changed and was not taken yet
	synced bool
	// elsewhere are records of hubs that the watch is not told of.
	elsewhere []*inventory.Hub
	// old are the inventories of old formats, by which the namespaces of their hubs
	// are known.
	old map[types.NamespacedName]*inventory.Inventory
}

func newStatusWatch(f *statusFlags, elsewhere []*inventory.Hub) *statusWatch {
	return &statusWatch{
		flags: f, changed: make(chan struct{}, 1), elsewhere: elsewhere,
		nodes: map[types.NamespacedName]status.Node{}, hubs: map[types.NamespacedName]*inventory.Hub{},
		news: map[types.NamespacedName]status.Node{}, old: map[types.NamespacedName]*inventory.Inventory{},
	}
}

// watchStatus shows how nodes are until the context ends: on a terminal in
// place, elsewhere by a line for each change.
func (a *app) watchStatus(ctx context.Context, f *statusFlags, client *kube.Client, elsewhere []*inventory.Hub) error {
	w := newStatusWatch(f, elsewhere)
	resource, err := client.Resource(ctx, "", "v1", "ConfigMap")
	if err != nil {
		return unread(ctx, err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- client.Watch(ctx, resource, apply.Scope{Namespace: f.namespace, Labels: lynq.LabelRecord}, w)
	}()
	out := ui.NewStream(a.stdout, a.getenv)
	format := ui.Format(f.output)
	show := w.append(&ui.Feed{Out: out, Format: format, Columns: statusColumns(f)})
	if out.Terminal && (format == ui.Table || format == ui.Wide) {
		show = w.redraw(ui.NewScreen(out), format == ui.Wide)
	}
	known := (*exitError)(nil)
	switch err := w.follow(ended, show); {
	case errors.As(err, &known):
		return err // of writing
	case err != nil:
		return unread(ctx, err)
	}
	timeout := (*timeoutError)(nil)
	if s := w.standing(); s != nil && errors.As(context.Cause(ctx), &timeout) {
		return s.ended()
	}
	return unread(ctx, context.Cause(ctx))
}

// follow shows what changes until the watch ends, and ages as time goes by.
func (w *statusWatch) follow(ended <-chan error, show func(now time.Time) error) error {
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
			return failed(err)
		}
	}
}

// redraw shows all nodes in place. While much changes it is not drawn more often
// than anybody can see; follow asks again within a second.
func (w *statusWatch) redraw(screen *ui.Screen, wide bool) func(time.Time) error {
	var drawn time.Time
	return func(now time.Time) error {
		if now.Sub(drawn) < ui.Redraw {
			return nil
		}
		if s := w.standing(); s != nil {
			screen.Show(s.list(w.flags, now), wide)
			drawn = now
		}
		return nil
	}
}

// append adds what changed to what was shown.
func (w *statusWatch) append(feed *ui.Feed) func(time.Time) error {
	return func(now time.Time) error {
		news, called := w.take()
		items := make([]ui.Item, len(news))
		for i := range news {
			items[i] = statusItem(&news[i], called, now)
		}
		return feed.Add(items...)
	}
}

// standing is how nodes are, nil where that is not known yet. Which nodes have
// no record can be told only where all namespaces are watched.
func (w *statusWatch) standing() *standing {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.synced {
		return nil
	}
	s, counts := &standing{}, w.counts()
	var ignored apply.Ignored
	for key, n := range w.nodes {
		switch {
		case counts(&n):
			s.nodes = append(s.nodes, n)
		case n.Hub != "":
			ignored.Broken = append(ignored.Broken, &inventory.RecordError{Namespace: key.Namespace, Name: key.Name, Hub: n.Hub, HubNamespace: n.HubNamespace})
		}
	}
	status.Sort(s.nodes)
	s.ignored = ignored.Warnings()
	s.hubs = status.Sum(s.nodes, slices.DeleteFunc(slices.Collect(maps.Values(w.hubs)), func(h *inventory.Hub) bool { return !w.flags.showsHub(keyOfHub(h)) }))
	for i := range s.hubs {
		if h := &s.hubs[i]; h.Run != nil && w.flags.namespace == "" && w.flags.whole() {
			h.Missing = max(h.Run.Nodes-h.Nodes, 0)
		}
	}
	return s
}

// counts tells which records count, as far as it is known by now.
func (w *statusWatch) counts() func(*status.Node) bool {
	hubs := slices.Concat(w.elsewhere, slices.Collect(maps.Values(w.hubs)))
	counting := apply.NewCounting(hubs, slices.Collect(maps.Values(w.old)))
	chosen := w.flags.hubsAmong(nil, counting)
	return func(n *status.Node) bool {
		if n.Hub == "" {
			return !counting.Apart(n.Namespace, chosen)
		}
		return counting.Counts(n.HubKey(), n.Namespace)
	}
}

// take gives what changed since it was called last, the latest of each node, and
// how hubs and forms are called. A record that does not count may yet.
func (w *statusWatch) take() ([]status.Node, *callings) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.synced || len(w.news) == 0 {
		return nil, nil
	}
	counts := w.counts()
	var news []status.Node
	for key, n := range w.news {
		if counts(&n) {
			news = append(news, n)
			delete(w.news, key)
		}
	}
	status.Sort(news)
	shown := slices.Clone(news)
	for _, n := range w.nodes {
		if counts(&n) {
			shown = append(shown, n)
		}
	}
	return news, callNodes(shown)
}

// Read implements apply.WatchHandler.
func (w *statusWatch) Read(o *unstructured.Unstructured) (note func()) {
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
	if !chosen {
		return func() {}
	}
	return func() { w.seeNode(key, n, old) }
}

func (w *statusWatch) seeNode(key types.NamespacedName, n status.Node, old *inventory.Inventory) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.old, key); old != nil {
		w.old[key] = old
	}
	before, known := w.nodes[key]
	w.nodes[key] = n
	if (!known || before != n) && (!w.flags.failed || !n.Well || known && !before.Well) {
		w.news[key] = n
		w.poke()
	}
}

// node reads the record of a node, and whether the flags choose it. Of one of an
// old format it gives what has to be known.
func (w *statusWatch) node(cm *corev1.ConfigMap) (n status.Node, old *inventory.Inventory, chosen bool) {
	inv, err := inventory.Decode(cm)
	if broken := (*inventory.RecordError)(nil); errors.As(err, &broken) {
		n := status.OfBroken(broken)
		return n, nil, w.flags.means(&n)
	}
	if err != nil {
		return status.Node{}, nil, false
	}
	if inv.Format != 0 {
		old = &inventory.Inventory{Namespace: inv.Namespace, Node: inv.Node, Hub: inv.Hub, HubNamespace: inv.HubNamespace, Format: inv.Format}
	}
	return status.Of(inv), old, w.flags.chooses(inv)
}

func (w *statusWatch) seeHub(key types.NamespacedName, h *inventory.Hub, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.hubs, key)
	if err == nil {
		w.hubs[key] = h
	}
	w.poke()
}

// Gone implements apply.WatchHandler.
func (w *statusWatch) Gone(namespace, name string, _ types.UID) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.hubs, key)
	delete(w.old, key)
	if n, known := w.nodes[key]; known {
		delete(w.nodes, key)
		delete(w.news, key)
		if !w.counts()(&n) {
			return
		}
		n.Condition, n.Since, n.Message, n.Well = conditionDeleted, time.Time{}, "", false
		w.news[key] = n
		w.poke()
	}
}

// Synced implements apply.WatchHandler.
func (w *statusWatch) Synced() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.synced = true
	w.poke()
}

// poke has the change shown.
func (w *statusWatch) poke() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}
