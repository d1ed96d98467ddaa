package watch

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

// hubWatches are the watches of a hub: one of its records, and one of each kind that its
// nodes want or have.
type hubWatches struct {
	hub     *hubWatch
	run     *session.Run
	running sync.WaitGroup

	mu    sync.Mutex
	kinds map[schema.GroupKind]*kindWatch
	used  map[schema.GroupKind]*usedKind // by the plans of all rounds
	// unserved are those of them that no API serves.
	unserved []schema.GroupKind
}

// kindWatch is one watch.
type kindWatch struct {
	namespace string // "" for all
	stop      context.CancelFunc
	// failed is when it ended by itself, zero where it has not.
	failed time.Time
}

const (
	// watchAgain is how long a kind is not watched that could not be.
	watchAgain = time.Minute
	// servedEvery is how often the server is asked whether it serves a kind by now.
	servedEvery = 10 * time.Second
)

func newHubWatches(h *hubWatch, r *session.Run) *hubWatches {
	return &hubWatches{hub: h, run: r, kinds: map[schema.GroupKind]*kindWatch{}, used: map[schema.GroupKind]*usedKind{}}
}

// ensure watches the records, and all kinds that the plans name. It does not wait.
func (w *hubWatches) ensure(ctx context.Context, plans []plan.Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	records := lynq.APIResource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true}
	w.start(ctx, schema.GroupKind{}, records, wait.Scope{Labels: wellknown.LabelRecord + "," + wellknown.LabelHub + "=" + w.hub.hub.Hub.Name}, watch.RecordMatters)
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

// resource is how a kind is served.
func (w *hubWatches) resource(ctx context.Context, kind schema.GroupKind, used *usedKind) (lynq.APIResource, error) {
	resource, err := w.run.Client.Resource(ctx, kind.Group, used.version, kind.Kind)
	if err != nil {
		return w.run.Client.Resource(ctx, kind.Group, "", kind.Kind)
	}
	return resource, nil
}

// lacking tells whether some kind is not served.
func (w *hubWatches) lacking() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.unserved) > 0
}

// served has the server say which kinds it serves, and tells whether some are among them
// that were not.
func (w *hubWatches) served(ctx context.Context) bool {
	_ = w.run.Client.Refresh(ctx) // what it does not tell now it may tell the next time
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.unserved, func(kind schema.GroupKind) bool {
		_, err := w.resource(ctx, kind, w.used[kind])
		return err == nil
	})
}

// start watches a kind, unless it is watched so already, under the lock.
func (w *hubWatches) start(ctx context.Context, kind schema.GroupKind, r lynq.APIResource, in wait.Scope, matters func(*watch.Sight, watch.Sight) bool) {
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
	w.kinds[kind] = k
	handler := w.hub.changes.NewKind(r, matters, w.hub.muted)
	w.running.Go(func() {
		defer stop()
		err := w.run.Client.WatchMetadata(within, r, in, handler)
		if within.Err() != nil {
			return
		}
		w.mu.Lock()
		k.failed = time.Now()
		w.mu.Unlock()
		w.hub.w.engine.Notef("warning: hub %s: lynqctl misses changes of %s until it can watch them again: %v", w.hub.hub.Key, r.Plural, err)
	})
}

// usedKind is a kind that nodes want or have.
type usedKind struct {
	version    string
	namespaces map[string]bool
}

// addKinds adds the kinds of all objects in the plans of nodes.
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
