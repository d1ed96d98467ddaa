package apply

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// The messages of objects that the watch has yet to tell of, or that are gone.
const (
	unheard  = "the API server has not told of it yet"
	goneAway = "was deleted, or has lost its label lynq.sh/hub"
	replaced = "was deleted and created again"
)

// room is where all wait whose objects are of one kind, or who wait for one object.
type room struct {
	classes *storageClasses
	// only is the object that the room is for, and stop ends its watch; zero for
	// a kind.
	only types.NamespacedName
	stop func()

	mu      sync.Mutex
	entries map[types.NamespacedName]*entry
	feeds   []*feed
	err     error // why the kind is no longer watched
}

// feed is what one watch tells a room.
type feed struct {
	*room
	synced bool // it has told of all that there was
}

// entry is what a room knows of one object name. There is one for each object
// that the watches tell of, so it is small.
type entry struct {
	seen      revision // as last told of, UID "" for never
	readiness Readiness
	end       *Readiness // how the object seen ran to its end, nil where it has not
	feed      *feed      // that told of it last
	gone      types.UID  // of the object that went last
	want      *expectation
}

// expectation is somebody who waits for an object.
type expectation struct {
	revision
	leaving bool // it is waited for until it is gone
	notify  func()
	told    Readiness
}

func newRoom(classes *storageClasses) *room {
	return &room{classes: classes, entries: map[types.NamespacedName]*entry{}}
}

func (m *room) newFeed() *feed {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &feed{room: m}
	m.feeds = append(m.feeds, f)
	return f
}

func (m *room) expect(name types.NamespacedName, x *expectation) Readiness {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entry(name)
	e.want = x
	x.told = m.known(e)
	return x.told
}

func (m *room) state(name types.NamespacedName) (Readiness, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[name]
	if e == nil || e.want == nil {
		return Readiness{}, false
	}
	return m.known(e), true
}

func (m *room) forget(name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[name]; e != nil {
		e.want = nil
	}
}

// doubt forgets that an object is gone, and with all whatever was told of it: until
// a further watch has told of all objects, it is not known where it is.
func (m *room) doubt(name types.NamespacedName, all bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entry(name)
	e.gone = ""
	if all {
		*e = entry{want: e.want}
	}
}

// move takes over the wait for an object from another room.
func (m *room) move(from *room, name types.NamespacedName) {
	from.mu.Lock()
	var x *expectation
	if e := from.entries[name]; e != nil {
		x, e.want = e.want, nil
	}
	from.mu.Unlock()
	if x != nil {
		m.expect(name, x)
	}
}

func (m *room) entry(name types.NamespacedName) *entry {
	e := m.entries[name]
	if e == nil {
		e = &entry{}
		m.entries[name] = e
	}
	return e
}

// known is the readiness of what is expected under a name.
func (m *room) known(e *entry) Readiness {
	r := m.heard(e)
	switch {
	case m.err == nil || r.State == StateGone:
		return r
	case r.State == StateWaiting || e.want.leaving:
		return failed(m.err.Error())
	}
	return r
}

func (m *room) heard(e *entry) Readiness {
	same := e.seen.UID == e.want.UID
	counts := same && !e.seen.before(e.want.revision)
	switch {
	case counts && e.end != nil && !e.want.leaving:
		return *e.end
	case e.gone == e.want.UID:
		return Readiness{State: StateGone, Message: goneAway}
	case !same && e.want.leaving && m.allSynced():
		// It was there before the watch began, and not when it had begun.
		return Readiness{State: StateGone, Message: goneAway}
	case !same && e.seen.UID != "" && e.want.before(e.seen):
		return Readiness{State: StateGone, Message: replaced}
	case !counts:
		return waiting(unheard)
	case e.readiness.class != "":
		return m.classes.decide(e.readiness)
	}
	return e.readiness
}

// allSynced tells whether all watches have told of all that there was.
func (m *room) allSynced() bool {
	for _, f := range m.feeds {
		if !f.synced {
			return false
		}
	}
	return true
}

// changed gives whom to notify of an entry, nil for nobody.
func (m *room) changed(e *entry) func() {
	if e.want == nil {
		return nil
	}
	r := m.known(e)
	if r == e.want.told {
		return nil
	}
	e.want.told = r
	return e.want.notify
}

// update changes entries, and then notifies without the lock.
func (m *room) update(change func() []*entry) {
	m.mu.Lock()
	var notify []func()
	for _, e := range change() {
		if f := m.changed(e); f != nil {
			notify = append(notify, f)
		}
	}
	m.mu.Unlock()
	for _, f := range notify {
		f()
	}
}

func (m *room) all() []*entry {
	all := make([]*entry, 0, len(m.entries))
	for _, e := range m.entries {
		all = append(all, e)
	}
	return all
}

// refresh looks again at all that is expected.
func (m *room) refresh() { m.update(m.all) }

// fail ends all waits, as nobody is going to tell of the kind any more.
func (m *room) fail(err error) {
	m.update(func() []*entry {
		m.err = err
		return m.all()
	})
}

// Read remembers how far an object is. News that is older than what is known is
// no news: a watch that begins again may tell it.
func (f *feed) Read(o *unstructured.Unstructured) (note func()) {
	name, seen, r := f.judge(o)
	return func() { f.note(f, name, seen, r) }
}

// learn is Read for an object that no watch told of.
func (m *room) learn(o *unstructured.Unstructured) {
	name, seen, r := m.judge(o)
	m.note(nil, name, seen, r)
}

func (*room) judge(o *unstructured.Unstructured) (types.NamespacedName, revision, Readiness) {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}, revisionOf(o), readiness(o)
}

// note notes what was read of an object.
func (m *room) note(from *feed, name types.NamespacedName, seen revision, r Readiness) {
	m.update(func() []*entry {
		if m.stop != nil && name != m.only {
			return nil // a server that takes no heed of the name
		}
		e := m.entry(name)
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
		if r.final && e.end == nil {
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
