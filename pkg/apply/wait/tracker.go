package wait

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// fewWatched is how many objects of a kind are watched by their names, each by a
// watch of its own. Where more are waited for, one watch for each selector tells
// of the whole kind: many watches cost the server more than what they leave out.
const fewWatched = 8

// Tracker knows how far objects are, from watches that all nodes of a run share:
// of single objects where few of a kind are waited for, else of the kind. Whatever
// it is told of objects before they are expected it remembers. It is safe for
// concurrent use.
type Tracker struct {
	ctx     context.Context
	cluster Watcher
	classes *storageClasses
	watches sync.WaitGroup

	mu      sync.Mutex
	planned map[schema.GroupKind]int             // how many objects will be waited for, as far as plans say
	within  map[schema.GroupKind]map[string]bool // the namespaces that these are in
	named   map[schema.GroupKind]int             // how many are watched by their names
	started map[watchKey]bool                    // watches of kinds
	caches  map[cacheKey]*cache
}

type watchKey struct {
	kind      schema.GroupKind
	namespace string // "" for all
	selector  string
}

// cacheKey is that of a cache for one object, or for all other objects of a kind.
type cacheKey struct {
	kind schema.GroupKind
	name types.NamespacedName
}

// New makes a tracker whose watches end with the context.
func New(ctx context.Context, c Watcher) *Tracker {
	return &Tracker{
		ctx:     ctx,
		cluster: c,
		classes: newStorageClasses(),
		planned: map[schema.GroupKind]int{},
		within:  map[schema.GroupKind]map[string]bool{},
		named:   map[schema.GroupKind]int{},
		started: map[watchKey]bool{},
		caches:  map[cacheKey]*cache{},
	}
}

// Plan notes that an object will be waited for. All are noted before any watch
// starts.
func (t *Tracker) Plan(ref lynq.Ref) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.planned[kindOf(ref)]++
	t.namespaceOf(ref)
}

// namespaceOf is the namespace in which an object's kind is watched, "" for all: where
// few have what is waited for, rights there are enough. It is called under the lock.
func (t *Tracker) namespaceOf(ref lynq.Ref) string {
	if t.within[kindOf(ref)] == nil {
		t.within[kindOf(ref)] = map[string]bool{}
	}
	t.within[kindOf(ref)][ref.Namespace] = true
	if len(t.within[kindOf(ref)]) > kinds.NamespacesApart {
		return ""
	}
	return ref.Namespace
}

// Start watches an object: by its name, or with all that a label selector selects of its
// kind, in its namespace or, where objects of many are waited for, in all. It returns at once, and does nothing where that
// watch has begun. It comes before the writes and deletes that are waited for.
func (t *Tracker) Start(r lynq.APIResource, ref lynq.Ref, selector string) {
	if kindOf(ref) == ready.ClaimKind() {
		t.startClasses()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	kind, named := watchKey{kindOf(ref), t.namespaceOf(ref), selector}, cacheKey{kindOf(ref), objectName(ref)}
	switch {
	case t.caches[named] != nil || t.begun(kind):
	case t.planned[kind.kind] <= fewWatched && t.named[kind.kind] < fewWatched:
		t.startOne(r, named)
	default:
		t.started[kind] = true
		m := t.cacheOf(kind.kind)
		t.watch(t.ctx, r, Scope{Namespace: kind.namespace, Labels: selector}, m.newFeed(), m.fail)
	}
}

// begun tells whether such a watch has begun, or one of all namespaces.
func (t *Tracker) begun(k watchKey) bool {
	return t.started[k] || t.started[watchKey{kind: k.kind, selector: k.selector}]
}

// cacheOf is the cache of a kind, under the lock.
func (t *Tracker) cacheOf(kind schema.GroupKind) *cache {
	m := t.caches[cacheKey{kind: kind}]
	if m == nil {
		m = newCache(t.classes)
		t.caches[cacheKey{kind: kind}] = m
	}
	return m
}

// startOne watches one object, under the lock.
func (t *Tracker) startOne(r lynq.APIResource, key cacheKey) *cache {
	within, stop := context.WithCancel(t.ctx)
	m := newCache(t.classes)
	m.only, m.stop = key.name, stop
	t.caches[key] = m
	t.named[key.kind]++
	t.watch(within, r, Scope{Namespace: key.name.Namespace, Name: key.name.Name}, m.newFeed(), m.fail)
	return m
}

// end ends the watch of one object, under the lock.
func (t *Tracker) end(key cacheKey) {
	t.caches[key].stop()
	delete(t.caches, key)
	t.named[key.kind]--
}

// startClasses watches storage classes, which decide about claims.
func (t *Tracker) startClasses() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if key := (watchKey{kind: ready.ClassKind()}); !t.started[key] {
		t.started[key] = true
		t.classes.changed = t.refreshClaims
		t.watch(t.ctx, ready.ClassResource(), Scope{}, t.classes, t.classes.fail)
	}
}

// refreshClaims looks again at all claims that are expected.
func (t *Tracker) refreshClaims() {
	t.mu.Lock()
	var claims []*cache
	for key, m := range t.caches {
		if key.kind == ready.ClaimKind() {
			claims = append(claims, m)
		}
	}
	t.mu.Unlock()
	for _, m := range claims {
		m.refresh()
	}
}

func (t *Tracker) watch(ctx context.Context, r lynq.APIResource, in Scope, h Handler, fail func(error)) {
	t.watches.Go(func() {
		err := t.cluster.Watch(ctx, r, in, h)
		if ctx.Err() == nil {
			fail(watchError(r, in, err))
		}
	})
}

// watchError is why a watch ended before the run did.
func watchError(r lynq.APIResource, in Scope, err error) error {
	resource := schema.GroupResource{Group: r.Group, Resource: r.Plural}.String()
	where := "in all namespaces"
	switch {
	case in.Name != "" && r.Namespaced:
		resource, where = resource+" "+in.Namespace+"/"+in.Name, "in namespace "+in.Namespace
	case in.Name != "":
		resource, where = resource+" "+in.Name, "of it"
	case !r.Namespaced:
		where = "of the kind"
	case in.Namespace != "":
		where = "in namespace " + in.Namespace
	}
	switch {
	case err == nil:
		return fmt.Errorf("cannot watch %s: the watch ended", resource)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("cannot watch %s: %w (allow list and watch %s, or set waitForReady: false)", resource, err, where)
	}
	return fmt.Errorf("cannot watch %s: %w", resource, err)
}

// Wait returns when all watches have ended, after the context.
func (t *Tracker) Wait() { t.watches.Wait() }

// Expect begins to wait for an object, and gives its readiness as known now.
// What is known of an object that is not the one that was written, or that is
// older than the write, does not count. From here on notify is called whenever
// the readiness has changed, from any goroutine; it must be quick. A further
// Expect of the same object replaces the one before.
func (t *Tracker) Expect(ref lynq.Ref, written Revision, notify func()) ready.Readiness {
	return t.add(ref, &expectation{Revision: written, notify: notify})
}

// ExpectGone is expect for an object that was there before start, and is to go:
// its readiness becomes StateGone, even if it had run to its end.
func (t *Tracker) ExpectGone(ref lynq.Ref, uid types.UID, notify func()) ready.Readiness {
	return t.add(ref, &expectation{Revision: Revision{UID: uid}, leaving: true, notify: notify})
}

func (t *Tracker) add(ref lynq.Ref, x *expectation) ready.Readiness {
	m := t.cacheFor(ref)
	if m == nil {
		return notWatched(ref)
	}
	return m.expect(objectName(ref), x)
}

// State is the readiness of an object that is expected; false where it is not.
func (t *Tracker) State(ref lynq.Ref) (ready.Readiness, bool) {
	m := t.cacheFor(ref)
	if m == nil {
		return notWatched(ref), false
	}
	return m.state(objectName(ref))
}

// Doubt forgets that an object is gone: what is told of it from here on counts.
func (t *Tracker) Doubt(ref lynq.Ref) {
	if m := t.cacheFor(ref); m != nil {
		m.doubt(objectName(ref), false)
	}
}

// StartAll watches an object by its name, for it is there though the watches by
// label do not tell of it any more; or its whole kind, where many are watched by
// their names already.
func (t *Tracker) StartAll(r lynq.APIResource, ref lynq.Ref) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key, kind := cacheKey{kindOf(ref), objectName(ref)}, watchKey{kind: kindOf(ref), namespace: t.namespaceOf(ref)}
	m := t.caches[key]
	if m != nil {
		t.end(key)
	} else {
		m = t.cacheOf(kind.kind)
	}
	switch {
	case t.named[kind.kind] < fewWatched:
		t.startOne(r, key).move(m, key.name)
	case !t.begun(kind):
		t.started[kind] = true
		m.doubt(key.name, true)
		t.watch(t.ctx, r, Scope{Namespace: kind.namespace}, m.newFeed(), m.fail)
	}
}

// Learn tells of an object that was read.
func (t *Tracker) Learn(ref lynq.Ref, o *unstructured.Unstructured) {
	if m := t.cacheFor(ref); m != nil {
		m.learn(o)
	}
}

// Forget ends the wait for an object, and its watch where that is of it alone.
func (t *Tracker) Forget(ref lynq.Ref) {
	m := t.cacheFor(ref)
	if m == nil {
		return
	}
	m.forget(objectName(ref))
	t.mu.Lock()
	defer t.mu.Unlock()
	if key := (cacheKey{kindOf(ref), objectName(ref)}); t.caches[key] == m {
		t.end(key)
	}
}

// cacheFor is the cache that knows of an object, nil for none.
func (t *Tracker) cacheFor(ref lynq.Ref) *cache {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := t.caches[cacheKey{kindOf(ref), objectName(ref)}]; m != nil {
		return m
	}
	return t.caches[cacheKey{kind: kindOf(ref)}]
}

func kindOf(ref lynq.Ref) schema.GroupKind {
	return schema.GroupKind{Group: ref.Group, Kind: ref.Kind}
}

func notWatched(ref lynq.Ref) ready.Readiness {
	return ready.Failed("there is no watch of " + ref.GroupKind())
}

func objectName(ref lynq.Ref) types.NamespacedName {
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

// Revision is an object as it was at some time: which one, and how new.
type Revision struct {
	UID             types.UID
	Generation      int64 // 0 for kinds that have none
	ResourceVersion string
}

// RevisionOf is the Revision that metadata is of.
func RevisionOf(m metav1.Object) Revision {
	return Revision{UID: m.GetUID(), Generation: m.GetGeneration(), ResourceVersion: m.GetResourceVersion()}
}

// before tells whether r is surely older than other, which is of the same name.
// Resource versions of a kind are ordered where they are numbers; other servers
// have only the generation to go by, which begins again with each UID.
func (r Revision) before(other Revision) bool {
	order, err := resourceversion.CompareResourceVersion(r.ResourceVersion, other.ResourceVersion)
	if err == nil {
		return order < 0
	}
	return r.UID == other.UID && r.Generation < other.Generation
}
