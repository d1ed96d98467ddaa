package statuscmd

import (
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// records receives inventories and hub records, and says when some changed. It implements
// wait.MetadataHandler.
type records struct {
	*watch.Changes
	selector labels.Selector // nil selects all

	mu      sync.Mutex
	synced  bool
	there   map[lynq.NodeKey]bool // nodes whose inventories exist and match the selector
	deleted map[lynq.NodeKey]bool // nodes whose inventories somebody deleted since takeDeleted
}

func newRecords(selector labels.Selector) *records {
	return &records{Changes: watch.NewChanges(), selector: selector, there: map[lynq.NodeKey]bool{}, deleted: map[lynq.NodeKey]bool{}}
}

// nodeOf returns the node whose inventory has this name. For a hub record, it returns a key
// that no node has.
func nodeOf(namespace, name string) lynq.NodeKey {
	return lynq.NodeKey{Namespace: namespace, Name: strings.TrimPrefix(name, inventory.Name(""))}
}

// ReadMetadata implements wait.MetadataHandler.
func (r *records) ReadMetadata(m *metav1.PartialObjectMetadata) (note func()) {
	key, chosen := nodeOf(m.Namespace, m.Name), r.selector == nil || r.selector.Matches(labels.Set(m.Labels))
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.there, key)
		delete(r.deleted, key)
		if chosen {
			r.there[key] = true
		}
		r.wake()
	}
}

// Gone implements wait.MetadataHandler.
func (r *records) Gone(namespace, name string, _ types.UID) {
	key := nodeOf(namespace, name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.there[key] {
		r.deleted[key] = true
	}
	delete(r.there, key)
	r.wake()
}

// Synced implements wait.MetadataHandler.
func (r *records) Synced() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.synced = true
	r.wake()
}

// wake reports a change once all records have come. The caller holds the lock.
func (r *records) wake() {
	if r.synced {
		r.Wake()
	}
}

// takeDeleted returns the nodes whose inventories somebody deleted since the last call.
func (r *records) takeDeleted() map[lynq.NodeKey]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	deleted := r.deleted
	r.deleted = map[lynq.NodeKey]bool{}
	return deleted
}

// knows reports whether a node's inventory exists, or its deletion isn't taken yet.
func (r *records) knows(key lynq.NodeKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.there[key] || r.deleted[key]
}
