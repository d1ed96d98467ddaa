package watch

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Changes collects what several watches tell of, until it is taken. It is safe for
// concurrent use.
type Changes struct {
	due chan struct{} // has room for one
}

// NewChanges makes one that nothing has been told of.
func NewChanges() *Changes { return &Changes{due: make(chan struct{}, 1)} }

// Due has a value when something changed that matters, since one was taken from it.
func (c *Changes) Due() <-chan struct{} { return c.due }

// Note notes that something changed that matters.
func (c *Changes) Note() {
	select {
	case c.due <- struct{}{}:
	default:
	}
}

// Kind is told of the objects of one kind by one watch. It implements
// apply.MetadataHandler. Read may be called while the other methods are.
type Kind struct {
	changes *Changes
	kind    lynq.APIResource
	matters func(before *Sight, now Sight) bool
	muted   func(lynq.Ref) bool

	mu     sync.Mutex
	seen   map[types.NamespacedName]Sight
	synced bool
}

// NewKind makes one that notes changes that matter, but for those of objects that are
// muted.
func (c *Changes) NewKind(r lynq.APIResource, matters func(before *Sight, now Sight) bool, muted func(lynq.Ref) bool) *Kind {
	return &Kind{changes: c, kind: r, matters: matters, muted: muted, seen: map[types.NamespacedName]Sight{}}
}

// ReadMetadata implements apply.MetadataHandler.
func (k *Kind) ReadMetadata(m *metav1.PartialObjectMetadata) (note func()) {
	key, now := types.NamespacedName{Namespace: m.Namespace, Name: m.Name}, SightOf(m)
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		var before *Sight
		if s, known := k.seen[key]; known {
			before = &s
		}
		k.seen[key] = now
		if k.synced && k.matters(before, now) {
			k.note(key)
		}
	}
}

// Gone implements apply.MetadataHandler.
func (k *Kind) Gone(namespace, name string, _ types.UID) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.seen, key)
	k.note(key)
}

// note notes a change of an object, under the lock.
func (k *Kind) note(key types.NamespacedName) {
	if !k.muted(lynq.Ref{Group: k.kind.Group, Kind: k.kind.Kind, Namespace: key.Namespace, Name: key.Name}) {
		k.changes.Note()
	}
}

// Synced implements apply.MetadataHandler. What changed between the last look at the
// cluster and the begin of the watch, or while it was broken off, is not known.
func (k *Kind) Synced() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.synced = true
	k.changes.Note()
}
