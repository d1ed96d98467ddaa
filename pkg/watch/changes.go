package watch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Changes collects the changes that several watches report, until the caller takes them. It is
// safe for concurrent use.
type Changes struct {
	mu      sync.Mutex
	noted   chan struct{} // closes at the next note
	objects map[lynq.Ref]bool
	all     bool
	// news is set if rows, files or other hubs noted something, and restarted if a watch of
	// the cluster started again.
	news, restarted bool
}

// NewChanges returns Changes without any change.
func NewChanges() *Changes { return &Changes{noted: make(chan struct{})} }

// Noted returns a channel that closes when somebody notes something from now on, or calls
// Signal. A caller that asks for Noted before it asks for Any misses nothing.
func (c *Changes) Noted() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.noted
}

// Any reports whether somebody noted something that nobody took yet.
func (c *Changes) Any() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all || c.news || c.restarted || len(c.objects) > 0
}

// Signal closes the channel of Noted, although nothing changed.
func (c *Changes) Signal() { c.note(func() {}) }

// note carries out a change of c, and closes the channel of Noted.
func (c *Changes) note(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.noted)
	c.noted = make(chan struct{})
}

// Note notes that objects changed.
func (c *Changes) Note(objects ...lynq.Ref) {
	c.note(func() {
		if c.objects == nil {
			c.objects = map[lynq.Ref]bool{}
		}
		for _, ref := range objects {
			c.objects[ref] = true
		}
	})
}

// NoteAll notes that any object may have changed, because of rows, files or other hubs.
func (c *Changes) NoteAll() { c.note(func() { c.all, c.news = true, true }) }

// noteList notes that any object may have changed, because a watch of the cluster listed them.
// restarted is set if that watch missed something.
func (c *Changes) noteList(restarted bool) {
	c.note(func() { c.all, c.restarted = true, c.restarted || restarted })
}

// Wake notes that rows, files or other hubs have news. Perhaps no object changed.
func (c *Changes) Wake() { c.note(func() { c.news = true }) }

// News reports whether rows, files or other hubs noted something that nobody took yet. The
// cluster's changes are no news, because other clients may cause them all the time.
func (c *Changes) News() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.news
}

// Pressing reports whether somebody noted something for which a round ends early. The first
// list of a watch ends none, because the round that began the watch has just read the same
// objects.
func (c *Changes) Pressing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.news || c.restarted || len(c.objects) > 0
}

// Why says for people what somebody noted and nobody took yet.
func (c *Changes) Why() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.restarted:
		return "a watch of the cluster started again, and any object may have changed"
	case len(c.objects) == 0:
		return "rows, files or another hub changed"
	}
	first := slices.MinFunc(slices.Collect(maps.Keys(c.objects)), func(a, b lynq.Ref) int { return cmp.Compare(a.String(), b.String()) })
	if others := len(c.objects) - 1; others > 0 {
		return fmt.Sprintf("%s and %s changed", first, phrase.Count(others, "other object"))
	}
	return first.String() + " changed"
}

// Take takes the changed objects. all is set if any object may have changed.
func (c *Changes) Take() (objects map[lynq.Ref]bool, all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	objects, all = c.objects, c.all
	c.objects, c.all, c.news, c.restarted = nil, false, false, false
	return objects, all
}

// Kind gets the objects of one kind from one watch. It implements wait.MetadataHandler.
// ReadMetadata may run beside the other methods.
type Kind struct {
	changes *Changes
	kind    lynq.APIResource
	matters func(before *Fingerprint, now Fingerprint) bool
	muted   func(lynq.Ref) bool

	mu     sync.Mutex
	seen   map[types.NamespacedName]Fingerprint
	synced bool
}

// NewKind returns a Kind that notes the changes that matter, except for those of muted objects.
func (c *Changes) NewKind(r lynq.APIResource, matters func(before *Fingerprint, now Fingerprint) bool, muted func(lynq.Ref) bool) *Kind {
	return &Kind{changes: c, kind: r, matters: matters, muted: muted, seen: map[types.NamespacedName]Fingerprint{}}
}

// ReadMetadata implements wait.MetadataHandler.
func (k *Kind) ReadMetadata(m *metav1.PartialObjectMetadata) (note func()) {
	key := types.NamespacedName{Namespace: m.Namespace, Name: m.Name}
	now := FingerprintOf(k.ref(key), m)
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		var before *Fingerprint
		if s, known := k.seen[key]; known {
			before = &s
		}
		k.seen[key] = now
		if k.synced && k.matters(before, now) {
			k.note(key)
		}
	}
}

// Gone implements wait.MetadataHandler.
func (k *Kind) Gone(namespace, name string, _ types.UID) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.seen, key)
	k.note(key)
}

// note notes a change of an object. The caller holds the lock.
func (k *Kind) note(key types.NamespacedName) {
	if ref := k.ref(key); !k.muted(ref) {
		k.changes.Note(ref)
	}
}

func (k *Kind) ref(key types.NamespacedName) lynq.Ref {
	return lynq.Ref{Group: k.kind.Group, Kind: k.kind.Kind, Namespace: key.Namespace, Name: key.Name}
}

// Synced implements wait.MetadataHandler. Nobody knows what changed before the watch began, or
// while it was interrupted.
func (k *Kind) Synced() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.changes.noteList(k.synced)
	k.synced = true
}
