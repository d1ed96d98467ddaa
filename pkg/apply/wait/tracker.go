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

// fewWatched is the largest number of objects of a kind with watches of their own. Beyond
// that, one watch for each selector covers the whole kind. Many watches cost the server
// more than the extra objects do.
const fewWatched = 8

// Tracker knows the readiness of objects, from watches that all nodes of a run share. It
// watches single objects if a run waits for few of a kind, and else the kind. It remembers
// reports about objects that nobody expects yet. It is safe for concurrent use.
type Tracker struct {
	ctx     context.Context
	cluster Watcher
	classes *storageClasses
	watches sync.WaitGroup

	mu      sync.Mutex
	planned map[schema.GroupKind]int             // the number of objects to wait for, according to plans
	within  map[schema.GroupKind]map[string]bool // the namespaces of these objects
	named   map[schema.GroupKind]int             // the number of objects with watches of their own
	started map[watchKey]bool                    // the watches of kinds
	caches  map[cacheKey]*cache
}

type watchKey struct {
	kind      schema.GroupKind
	namespace string // "" for all namespaces
	selector  string
}

// cacheKey identifies the cache of one object, or of all other objects of a kind.
type cacheKey struct {
	kind schema.GroupKind
	name types.NamespacedName
}

// New returns a tracker. Its watches end with the context.
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

// Plan notes that the run will wait for an object. The run notes all objects before it
// starts a watch.
func (t *Tracker) Plan(ref lynq.Ref) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.planned[kindOf(ref)]++
	t.namespaceOf(ref)
}

// namespaceOf returns the namespace to watch for an object's kind, "" for all. If the
// objects are in few namespaces, permissions in these are enough. Call it under the lock.
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

// Start watches an object. It watches the object's name, or the objects of its kind with
// the selector, in its namespace or in all. It returns at once, and does nothing if that
// watch exists. Call it before the write or deletion.
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

// begun reports whether this watch exists, or one for all namespaces.
func (t *Tracker) begun(k watchKey) bool {
	return t.started[k] || t.started[watchKey{kind: k.kind, selector: k.selector}]
}

// cacheOf returns the cache of a kind. Call it under the lock.
func (t *Tracker) cacheOf(kind schema.GroupKind) *cache {
	m := t.caches[cacheKey{kind: kind}]
	if m == nil {
		m = newCache(t.classes)
		t.caches[cacheKey{kind: kind}] = m
	}
	return m
}

// startOne watches one object. Call it under the lock.
func (t *Tracker) startOne(r lynq.APIResource, key cacheKey) *cache {
	within, stop := context.WithCancel(t.ctx)
	m := newCache(t.classes)
	m.only, m.stop = key.name, stop
	t.caches[key] = m
	t.named[key.kind]++
	t.watch(within, r, Scope{Namespace: key.name.Namespace, Name: key.name.Name}, m.newFeed(), m.fail)
	return m
}

// end ends the watch of one object. Call it under the lock.
func (t *Tracker) end(key cacheKey) {
	t.caches[key].stop()
	delete(t.caches, key)
	t.named[key.kind]--
}

// startClasses watches storage classes, because the readiness of claims depends on them.
func (t *Tracker) startClasses() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if key := (watchKey{kind: ready.ClassKind()}); !t.started[key] {
		t.started[key] = true
		t.classes.changed = t.refreshClaims
		t.watch(t.ctx, ready.ClassResource(), Scope{}, t.classes, t.classes.fail)
	}
}

// refreshClaims checks all expected claims again.
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

// watchError describes why a watch ended before the run.
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

// Wait waits until all watches have ended. They end with the context.
func (t *Tracker) Wait() { t.watches.Wait() }

// Expect begins to wait for an object, and returns its known readiness. It ignores reports
// about another object with this name, or older than the write. When the readiness changes,
// any goroutine may call notify, which must be quick. Another Expect of the same object
// replaces the earlier one.
func (t *Tracker) Expect(ref lynq.Ref, written Revision, notify func()) ready.Readiness {
	return t.add(ref, &expectation{Revision: written, notify: notify})
}

// ExpectGone works like Expect for an object that lynqctl deletes. The object existed
// before Start. Its readiness becomes StateGone, even if the object had already finished.
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

// State returns the readiness of an expected object, and false if nobody expects it.
func (t *Tracker) State(ref lynq.Ref) (ready.Readiness, bool) {
	m := t.cacheFor(ref)
	if m == nil {
		return notWatched(ref), false
	}
	return m.state(objectName(ref))
}

// Doubt forgets that an object was deleted. Only later reports about it count.
func (t *Tracker) Doubt(ref lynq.Ref) {
	if m := t.cacheFor(ref); m != nil {
		m.doubt(objectName(ref), false)
	}
}

// StartAll watches an object that exists although the watches by label no longer report it.
// It watches the object by name, or the whole kind if many objects have their own watch.
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

// Learn passes on an object that a request read.
func (t *Tracker) Learn(ref lynq.Ref, o *unstructured.Unstructured) {
	if m := t.cacheFor(ref); m != nil {
		m.learn(o)
	}
}

// Forget ends the wait for an object, and its own watch if it has one.
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

// cacheFor returns the cache that knows an object, or nil.
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

// Revision identifies an object at one time.
type Revision struct {
	UID             types.UID
	Generation      int64 // 0 for kinds without generation
	ResourceVersion string
}

// RevisionOf returns the Revision of an object from its metadata.
func RevisionOf(m metav1.Object) Revision {
	return Revision{UID: m.GetUID(), Generation: m.GetGeneration(), ResourceVersion: m.GetResourceVersion()}
}

// before reports whether r is certainly older than other, which has the same name. Numeric
// resource versions are ordered. On other servers only the generation is, which starts
// again with each UID.
func (r Revision) before(other Revision) bool {
	order, err := resourceversion.CompareResourceVersion(r.ResourceVersion, other.ResourceVersion)
	if err == nil {
		return order < 0
	}
	return r.UID == other.UID && r.Generation < other.Generation
}
