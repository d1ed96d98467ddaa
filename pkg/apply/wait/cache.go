package wait

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
)

// The messages of objects that the watch has yet to tell of, or that are gone.
const (
	NotSeenYet = "the API server has not told of it yet"
	Deleted    = "was deleted, or has lost its label lynq.sh/hub"
	replaced   = "was deleted and created again"
)

// cache is what watches have told of the objects of one kind, or of one object, and who
// waits for them.
type cache struct {
	classes *storageClasses
	// only is the object that the cache is for, and stop ends its watch; zero for
	// a kind.
	only types.NamespacedName
	stop func()

	mu      sync.Mutex
	entries map[types.NamespacedName]*entry
	feeds   []*feed
	err     error // why the kind is no longer watched
}

// feed is what one watch tells a cache.
type feed struct {
	*cache
	synced bool // it has told of all that there was
}

// entry is what a cache knows of one object name. There is one for each object
// that the watches tell of, so it is small.
type entry struct {
	seen      Revision // as last told of, UID "" for never
	readiness ready.Readiness
	end       *ready.Readiness // how the object seen ran to its end, nil where it has not
	feed      *feed            // that told of it last
	gone      types.UID        // of the object that went last
	want      *expectation
}

// expectation is a person who waits for an object.
type expectation struct {
	Revision
	leaving bool // it is waited for until it is gone
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

// doubt forgets that an object is gone, and with all whatever was told of it: until
// a further watch has told of all objects, it is not known where it is.
func (c *cache) doubt(name types.NamespacedName, all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(name)
	e.gone = ""
	if all {
		*e = entry{want: e.want}
	}
}

// move takes over the wait for an object from another cache.
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

// known is the readiness of what is expected under a name.
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
		// It was there before the watch began, and not when it had begun.
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

// allSynced tells whether all watches have told of all that there was.
func (c *cache) allSynced() bool {
	for _, f := range c.feeds {
		if !f.synced {
			return false
		}
	}
	return true
}

// changed gives whom to notify of an entry, nil for no one.
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

// refresh looks again at all that is expected.
func (c *cache) refresh() { c.update(c.all) }

// fail ends all waits, as no one is going to tell of the kind any more.
func (c *cache) fail(err error) {
	c.update(func() []*entry {
		c.err = err
		return c.all()
	})
}

// Read remembers how far an object is. News that is older than what is known is
// no news: a watch that begins again may tell it.
func (f *feed) Read(o *unstructured.Unstructured) (note func()) {
	name, seen, r := f.judge(o)
	return func() { f.note(f, name, seen, r) }
}

// learn is Read for an object that no watch told of.
func (c *cache) learn(o *unstructured.Unstructured) {
	name, seen, r := c.judge(o)
	c.note(nil, name, seen, r)
}

func (*cache) judge(o *unstructured.Unstructured) (types.NamespacedName, Revision, ready.Readiness) {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}, RevisionOf(o), ready.Of(o)
}

// note notes what was read of an object.
func (c *cache) note(from *feed, name types.NamespacedName, seen Revision, r ready.Readiness) {
	c.update(func() []*entry {
		if c.stop != nil && name != c.only {
			return nil // a server that takes no heed of the name
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
			e.gone = "" // it had lost the label, and has it again
		}
		if r.Final && e.end == nil {
			end := r
			e.end = &end
		}
		e.seen, e.readiness = seen, r
		return []*entry{e}
	})
}

// Gone remembers that an object is there no more. One that another feed has
// told of since has only moved there.
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

// Synced notes that what the watch has not told of was not there when it began.
func (f *feed) Synced() {
	f.update(func() []*entry {
		if f.synced {
			return nil
		}
		f.synced = true
		return f.all()
	})
}
