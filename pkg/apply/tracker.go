package apply

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// watcher is what a tracker needs of a Cluster.
type watcher interface {
	Watch(ctx context.Context, r lynq.APIResource, namespace, selector string, h WatchHandler) error
}

// tracker knows how far objects are, from one watch per kind and selector that
// all nodes of a run share. Whatever it is told of objects before somebody
// expects them it remembers. It is safe for concurrent use.
type tracker struct {
	ctx     context.Context
	cluster watcher
	classes *storageClasses
	watches sync.WaitGroup

	mu      sync.Mutex
	started map[watchKey]bool
	rooms   map[schema.GroupKind]*room
}

type watchKey struct {
	kind     schema.GroupKind
	selector string
}

// newTracker makes a tracker whose watches end with the context.
func newTracker(ctx context.Context, c watcher) *tracker {
	return &tracker{
		ctx:     ctx,
		cluster: c,
		classes: newStorageClasses(),
		started: map[watchKey]bool{},
		rooms:   map[schema.GroupKind]*room{},
	}
}

// start watches the objects of a kind that a label selector selects, in all
// namespaces. It returns at once, and does nothing where that watch has begun.
// It comes before the writes and deletes that are waited for.
func (t *tracker) start(r lynq.APIResource, selector string) {
	kind := schema.GroupKind{Group: r.Group, Kind: r.Kind}
	key := watchKey{kind, selector}
	t.mu.Lock()
	begun := t.started[key]
	t.started[key] = true
	m := t.rooms[kind]
	if m == nil {
		m = newRoom(t.classes)
		t.rooms[kind] = m
	}
	classes := kind == claimKind() && !t.started[watchKey{kind: classKind()}]
	if classes {
		t.started[watchKey{kind: classKind()}] = true
		t.classes.changed = m.refresh
	}
	var f *feed
	if !begun {
		// Before anybody else finds the watch begun: a room without feeds knows
		// of nothing, and would take all for gone.
		f = m.newFeed()
	}
	t.mu.Unlock()
	if begun {
		return
	}
	t.watch(r, selector, f, m.fail)
	if classes {
		t.watch(classResource(), "", t.classes, t.classes.fail)
	}
}

func (t *tracker) watch(r lynq.APIResource, selector string, h WatchHandler, fail func(error)) {
	t.watches.Go(func() {
		err := t.cluster.Watch(t.ctx, r, "", selector, h)
		if t.ctx.Err() == nil {
			fail(watchError(r, err))
		}
	})
}

// watchError is why a watch ended before the run did.
func watchError(r lynq.APIResource, err error) error {
	resource := schema.GroupResource{Group: r.Group, Resource: r.Plural}.String()
	switch {
	case err == nil:
		return fmt.Errorf("cannot watch %s: the watch ended", resource)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("cannot watch %s: %w (allow list and watch in all namespaces, or set waitForReady: false)", resource, err)
	}
	return fmt.Errorf("cannot watch %s: %w", resource, err)
}

// wait returns when all watches have ended, after the context.
func (t *tracker) wait() { t.watches.Wait() }

// expect begins to wait for an object, and gives its readiness as known now.
// What is known of an object that is not the one that was written, or that is
// older than the write, does not count. From here on notify is called whenever
// the readiness has changed, from any goroutine; it must be quick. A further
// expect of the same object replaces the one before.
func (t *tracker) expect(ref lynq.Ref, written revision, notify func()) Readiness {
	return t.add(ref, &expectation{revision: written, notify: notify})
}

// expectGone is expect for an object that was there before start, and is to go:
// its readiness becomes StateGone, even if it had run to its end.
func (t *tracker) expectGone(ref lynq.Ref, uid types.UID, notify func()) Readiness {
	return t.add(ref, &expectation{revision: revision{UID: uid}, leaving: true, notify: notify})
}

func (t *tracker) add(ref lynq.Ref, x *expectation) Readiness {
	m := t.room(ref)
	if m == nil {
		return notWatched(ref)
	}
	return m.expect(objectName(ref), x)
}

// state is the readiness of an object that is expected; false where it is not.
func (t *tracker) state(ref lynq.Ref) (Readiness, bool) {
	m := t.room(ref)
	if m == nil {
		return notWatched(ref), false
	}
	return m.state(objectName(ref))
}

// forget ends the wait for an object.
func (t *tracker) forget(ref lynq.Ref) {
	if m := t.room(ref); m != nil {
		m.forget(objectName(ref))
	}
}

func (t *tracker) room(ref lynq.Ref) *room {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rooms[schema.GroupKind{Group: ref.Group, Kind: ref.Kind}]
}

func notWatched(ref lynq.Ref) Readiness {
	return failed("nobody watches " + ref.GroupKind())
}

func objectName(ref lynq.Ref) types.NamespacedName {
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

// revision is an object as it was at some time: which one, and how new.
type revision struct {
	UID             types.UID
	Generation      int64 // 0 for kinds that have none
	ResourceVersion string
}

// revisionOf is the revision that metadata is of.
func revisionOf(m metav1.Object) revision {
	return revision{UID: m.GetUID(), Generation: m.GetGeneration(), ResourceVersion: m.GetResourceVersion()}
}

// before tells whether r is surely older than other, which is of the same name.
// Resource versions of a kind are ordered where they are numbers; other servers
// have only the generation to go by, which begins anew with each UID.
func (r revision) before(other revision) bool {
	order, err := resourceversion.CompareResourceVersion(r.ResourceVersion, other.ResourceVersion)
	if err == nil {
		return order < 0
	}
	return r.UID == other.UID && r.Generation < other.Generation
}
