package watchcmd

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// hubWatches are the Kubernetes watches for a hub: one for its records, and one for each
// kind of its nodes' objects.
type hubWatches struct {
	hub     *hubWatch
	run     *session.Run
	running sync.WaitGroup

	mu    sync.Mutex
	kinds map[watchKey]*kindWatch
	used  map[schema.GroupKind]*usedKind // kinds in the plans of all rounds
	// unserved are the used kinds that the server doesn't serve.
	unserved []schema.GroupKind
}

// watchKey identifies a Kubernetes watch. The namespace is "" unless lynqctl keeps to some
// namespaces, and watches each of these.
type watchKey struct {
	schema.GroupKind
	namespace string
}

// kindWatch is one Kubernetes watch.
type kindWatch struct {
	namespace string // "" means all
	stop      context.CancelFunc
	// failed is the time when the watch ended by itself, zero if it runs.
	failed time.Time
	// missed says when the log tells again that lynqctl can't watch.
	missed watch.Reminder
}

const (
	// watchAgain is the pause before another try to watch a kind.
	watchAgain = time.Minute
	// servedEvery is the interval at which lynqctl asks the server again for a missing
	// kind.
	servedEvery = 10 * time.Second
)

func newHubWatches(h *hubWatch, r *session.Run) *hubWatches {
	return &hubWatches{hub: h, run: r, kinds: map[watchKey]*kindWatch{}, used: map[schema.GroupKind]*usedKind{}}
}

// ensure starts the watches for the records and for all kinds in the plans. It doesn't
// wait.
func (w *hubWatches) ensure(ctx context.Context, plans []plan.Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	records := lynq.APIResource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true}
	w.start(ctx, schema.GroupKind{}, records, wait.Scope{Labels: wellknown.LabelRecord + "," + wellknown.LabelHub + "=" + w.hub.hub.Hub.Name}, w.hub.recordMatters)
	addKinds(w.used, plans)
	w.unserved = nil
	for kind, used := range w.used {
		resource, err := w.resource(ctx, kind, used)
		if err != nil {
			w.unserved = append(w.unserved, kind)
			continue
		}
		in := wait.Scope{Labels: wellknown.LabelHub + "=" + w.hub.hub.Hub.Name + ",!" + wellknown.LabelRecord}
		if resource.Namespaced && len(used.namespaces) == 1 {
			for namespace := range used.namespaces {
				in.Namespace = namespace
			}
		}
		w.start(ctx, kind, resource, in, watch.ObjectMatters)
	}
}

// resource returns the API resource that serves a kind.
func (w *hubWatches) resource(ctx context.Context, kind schema.GroupKind, used *usedKind) (lynq.APIResource, error) {
	resource, err := w.run.Client.Resource(ctx, kind.Group, used.version, kind.Kind)
	if err != nil {
		return w.run.Client.Resource(ctx, kind.Group, "", kind.Kind)
	}
	return resource, nil
}

// lacking reports whether the server doesn't serve some kind.
func (w *hubWatches) lacking() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.unserved) > 0
}

// served asks the server for its kinds, and reports whether a missing one is among them.
func (w *hubWatches) served(ctx context.Context) bool {
	_ = w.run.Client.Refresh(ctx) // if it fails, the next try may succeed
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.unserved, func(kind schema.GroupKind) bool {
		_, err := w.resource(ctx, kind, w.used[kind])
		return err == nil
	})
}

// start watches a kind, unless a watch runs already. The caller holds the lock.
func (w *hubWatches) start(ctx context.Context, kind schema.GroupKind, r lynq.APIResource, in wait.Scope, matters func(*watch.Fingerprint, watch.Fingerprint) bool) {
	within := w.run.Client.Namespaces()
	if r.Namespaced && in.Namespace == "" && len(within) > 0 {
		for _, in.Namespace = range within {
			w.startOne(ctx, watchKey{kind, in.Namespace}, r, in, matters)
		}
		return
	}
	w.startOne(ctx, watchKey{GroupKind: kind}, r, in, matters)
}

// startOne works like start, for one Kubernetes watch.
func (w *hubWatches) startOne(ctx context.Context, kind watchKey, r lynq.APIResource, in wait.Scope, matters func(*watch.Fingerprint, watch.Fingerprint) bool) {
	if old := w.kinds[kind]; old != nil {
		switch {
		case !old.failed.IsZero() && time.Since(old.failed) < watchAgain:
			return
		case old.failed.IsZero() && (old.namespace == in.Namespace || old.namespace == ""):
			return
		}
		old.stop()
	}
	within, stop := context.WithCancel(ctx)
	k := &kindWatch{namespace: in.Namespace, stop: stop}
	if old := w.kinds[kind]; old != nil {
		k.missed = old.missed
	}
	w.kinds[kind] = k
	muted := func(ref lynq.Ref) bool { return w.hub.nodes.muted(ref, time.Now()) }
	handler := w.hub.changes.NewKind(r, matters, muted)
	w.running.Go(func() {
		defer stop()
		err := w.run.Client.WatchMetadata(within, r, in, handler)
		if within.Err() != nil {
			return
		}
		w.mu.Lock()
		k.failed = time.Now()
		tell := k.missed.Due(err.Error(), k.failed)
		w.mu.Unlock()
		if !tell {
			return
		}
		w.hub.w.engine.Notef("warning: hub %s: lynqctl misses changes of %s until it can watch them again: %v", w.hub.hub.Key, r.Plural, err)
	})
}

// usedKind is a kind of objects that nodes want or own.
type usedKind struct {
	version    string
	namespaces map[string]bool
}

// addKinds adds the kinds of all objects in the plans.
func addKinds(kinds map[schema.GroupKind]*usedKind, plans []plan.Plan) {
	add := func(ref lynq.Ref, apiVersion string) {
		key := schema.GroupKind{Group: ref.Group, Kind: ref.Kind}
		if kinds[key] == nil {
			_, version := lynq.SplitAPIVersion(apiVersion)
			kinds[key] = &usedKind{version, map[string]bool{}}
		}
		kinds[key].namespaces[ref.Namespace] = true
	}
	for i := range plans {
		if plans[i].After {
			continue // tombstones
		}
		for k := range plans[i].Nodes {
			for _, s := range plans[i].Nodes[k].Steps {
				if s.Object != nil {
					add(s.Object.Ref, s.Object.APIVersion)
				}
				if s.Entry != nil {
					add(s.Entry.Ref, s.Entry.APIVersion)
				}
			}
		}
	}
}
