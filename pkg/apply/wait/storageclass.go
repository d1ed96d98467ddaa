package wait

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
)

// storageClasses handles the watch of storage classes.
type storageClasses struct {
	changed func() // called after a result of decide may have changed

	mu    sync.Mutex
	known ready.StorageClasses
}

func newStorageClasses() *storageClasses {
	return &storageClasses{known: ready.StorageClasses{Waits: map[string]bool{}}}
}

// decide returns the readiness of an unbound claim, from the known classes.
func (c *storageClasses) decide(claim ready.Readiness) ready.Readiness {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known.Decide(claim)
}

// Read notes the binding mode of a class.
func (c *storageClasses) Read(o *unstructured.Unstructured) (note func()) {
	name, waits := o.GetName(), ready.WaitsForConsumer(o)
	return func() { c.update(func() { c.known.Waits[name] = waits }) }
}

// Gone forgets a class.
func (c *storageClasses) Gone(_, name string, _ types.UID) {
	c.update(func() { delete(c.known.Waits, name) })
}

// Synced notes that all classes are known.
func (c *storageClasses) Synced() { c.update(func() { c.known.Complete = true }) }

func (c *storageClasses) fail(err error) { c.update(func() { c.known.Err = err }) }

// update changes the known classes, and then notifies without the lock.
func (c *storageClasses) update(change func()) {
	c.mu.Lock()
	change()
	c.mu.Unlock()
	c.changed()
}
