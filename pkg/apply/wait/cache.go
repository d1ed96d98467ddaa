package wait

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
)

// These messages describe objects that no watch reported yet, and deleted ones.
const (
	NotSeenYet = "waiting for the API server"
	Deleted    = "was deleted, or has lost its label lynq.sh/hub"
	replaced   = "was deleted and created again"
)

// cache has everything that watches reported about the objects of one kind, or about one
// object. It also has the waits for them.
type cache struct {
	classes *storageClasses
	// only is the object of the cache, and stop ends its watch. Both are zero if the cache
	// is for a kind.
	only types.NamespacedName
	stop func()

	mu      sync.Mutex
	entries map[types.NamespacedName]*entry
	feeds   []*feed
	err     error // why lynqctl no longer watches the kind
}

// feed passes the reports of one watch to a cache.
type feed struct {
	*cache
	synced bool // the watch has reported all objects that existed
}

// entry has everything that a cache knows about one object name. It is small, because there
// is one for each object that the watches report.
type entry struct {
	seen      Revision // the last reported revision, UID "" for none
	readiness ready.Readiness
	end       *ready.Readiness // the final state of the object in seen, or nil
	feed      *feed            // the feed that reported it last
	gone      types.UID        // the uid of the object that was deleted last
	want      *expectation
}

// expectation is one wait for an object.
type expectation struct {
	Revision
	leaving bool // the wait lasts until the object is deleted
	notify  func()
	told    ready.Readiness
}

func newCache(classes *storageClasses) *cache {
	return &cache{classes: classes, entries: map[types.NamespacedName]*entry{}}
}

func (c *cache) newFeed() *feed {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &feed{cache: c}
	c.feeds = append(c.feeds, f)
	return f
}

func (c *cache) expect(name types.NamespacedName, x *expectation) ready.Readiness {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(name)
	e.want = x
	x.told = c.known(e)
	return x.told
}

func (c *cache) state(name types.NamespacedName) (ready.Readiness, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[name]
	if e == nil || e.want == nil {
		return ready.Readiness{}, false
	}
	return c.known(e), true
}

func (c *cache) forget(name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[name]; e != nil {
		e.want = nil
	}
}

// doubt forgets that an object was deleted. With all, it also forgets every report about
// it. The object is unknown until another watch has reported all objects.
func (c *cache) doubt(name types.NamespacedName, all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(name)
	e.gone = ""
	if all {
		*e = entry{want: e.want}
	}
}

// move moves the wait for an object here from another cache.
func (c *cache) move(from *cache, name types.NamespacedName) {
	from.mu.Lock()
	var x *expectation
	if e := from.entries[name]; e != nil {
		x, e.want = e.want, nil
	}
	from.mu.Unlock()
	if x != nil {
		c.expect(name, x)
	}
}

func (c *cache) entry(name types.NamespacedName) *entry {
	e := c.entries[name]
	if e == nil {
		e = &entry{}
		c.entries[name] = e
	}
	return e
}

// known returns the readiness of the expected object.
func (c *cache) known(e *entry) ready.Readiness {
	r := c.heard(e)
	switch {
	case c.err == nil || r.State == ready.StateGone:
		return r
	case r.State == ready.StateWaiting || e.want.leaving:
		return ready.Failed(c.err.Error())
	}
	return r
}

func (c *cache) heard(e *entry) ready.Readiness {
	same := e.seen.UID == e.want.UID
	counts := same && !e.seen.before(e.want.Revision)
	switch {
	case counts && e.end != nil && !e.want.leaving:
		return *e.end
	case e.gone == e.want.UID:
		return ready.Readiness{State: ready.StateGone, Message: Deleted}
	case !same && e.want.leaving && c.allSynced():
		// The object existed before the watch began, and not afterwards.
		return ready.Readiness{State: ready.StateGone, Message: Deleted}
	case !same && e.seen.UID != "" && e.want.before(e.seen):
		return ready.Readiness{State: ready.StateGone, Message: replaced}
	case !counts:
		return ready.Waiting(NotSeenYet)
	case e.readiness.Class != "":
		return c.classes.decide(e.readiness)
	}
	return e.readiness
}

// allSynced reports whether all watches have reported all objects that existed.
func (c *cache) allSynced() bool {
	for _, f := range c.feeds {
		if !f.synced {
			return false
		}
	}
	return true
}

// changed returns the function to notify about an entry, or nil.
func (c *cache) changed(e *entry) func() {
	if e.want == nil {
		return nil
	}
	r := c.known(e)
	if r == e.want.told {
		return nil
	}
	e.want.told = r
	return e.want.notify
}

// update changes entries, and then notifies without the lock.
func (c *cache) update(change func() []*entry) {
	c.mu.Lock()
	var notify []func()
	for _, e := range change() {
		if f := c.changed(e); f != nil {
			notify = append(notify, f)
		}
	}
	c.mu.Unlock()
	for _, f := range notify {
		f()
	}
}

func (c *cache) all() []*entry {
	all := make([]*entry, 0, len(c.entries))
	for _, e := range c.entries {
		all = append(all, e)
	}
	return all
}

// refresh checks all expected objects again.
func (c *cache) refresh() { c.update(c.all) }

// fail ends all waits, because no watch reports the kind any more.
func (c *cache) fail(err error) {
	c.update(func() []*entry {
		c.err = err
		return c.all()
	})
}

// Read notes the state of an object. The note ignores reports older than the known state,
// because a restarted watch may repeat them.
func (f *feed) Read(o *unstructured.Unstructured) (note func()) {
	name, seen, r := f.judge(o)
	return func() { f.note(f, name, seen, r) }
}

// learn notes an object that no watch reported.
func (c *cache) learn(o *unstructured.Unstructured) {
	name, seen, r := c.judge(o)
	c.note(nil, name, seen, r)
}

func (*cache) judge(o *unstructured.Unstructured) (types.NamespacedName, Revision, ready.Readiness) {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}, RevisionOf(o), ready.Of(o)
}

// note notes an object that a watch or a request read.
func (c *cache) note(from *feed, name types.NamespacedName, seen Revision, r ready.Readiness) {
	c.update(func() []*entry {
		if c.stop != nil && name != c.only {
			return nil // the server ignored the name in the request
		}
		e := c.entry(name)
		if from != nil {
			e.feed = from
		}
		if e.seen.UID != "" && seen.before(e.seen) {
			return nil
		}
		if e.seen.UID != seen.UID {
			e.end = nil
		}
		if e.gone == seen.UID {
			e.gone = "" // the object lost the label, and has it again
		}
		switch {
		case r.Final && e.end == nil:
			e.end = new(r)
		case !r.Final && r.State != ready.StateDeleting:
			e.end = nil // a custom resource works again after a change
		}
		e.seen, e.readiness = seen, r
		return []*entry{e}
	})
}

// Gone notes that an object no longer exists. If another feed has reported the object
// since, it has only moved there.
func (f *feed) Gone(namespace, name string, uid types.UID) {
	f.update(func() []*entry {
		e := f.entry(types.NamespacedName{Namespace: namespace, Name: name})
		if e.feed != nil && e.feed != f && e.seen.UID == uid {
			return nil
		}
		e.gone = uid
		return []*entry{e}
	})
}

// Synced notes that objects without a report didn't exist when the watch began.
func (f *feed) Synced() {
	f.update(func() []*entry {
		if f.synced {
			return nil
		}
		f.synced = true
		return f.all()
	})
}
