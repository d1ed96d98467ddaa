package apply

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func classKind() schema.GroupKind {
	return schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
}

func classResource() lynq.APIResource {
	return lynq.APIResource{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass", Plural: "storageclasses"}
}

// storageClasses knows which storage classes bind a claim only when a pod uses
// it. It is the handler of the watch that tells.
type storageClasses struct {
	changed func() // called after what decide says may have changed

	mu     sync.Mutex
	waits  map[string]bool // by class: it waits for the first consumer
	synced bool
	err    error
}

func newStorageClasses() *storageClasses {
	return &storageClasses{waits: map[string]bool{}}
}

// decide is the readiness of a claim that is not bound: ready where its class
// waits for a consumer, which may well be one of those that depend on it. What
// is not known is waited for.
func (c *storageClasses) decide(claim Readiness) Readiness {
	c.mu.Lock()
	defer c.mu.Unlock()
	waits, known := c.waits[claim.class]
	switch {
	case waits:
		return ready("waiting for the first consumer")
	case known:
		return waiting("not bound: storage class %q has given no volume yet", claim.class)
	case c.err != nil:
		return waiting("%s: %v", claim.Message, c.err)
	case c.synced:
		return waiting("not bound: there is no storage class %q", claim.class)
	}
	return waiting("%s yet", claim.Message)
}

// Read notes how a class binds.
func (c *storageClasses) Read(o *unstructured.Unstructured) (note func()) {
	mode, _, err := unstructured.NestedString(o.Object, "volumeBindingMode")
	name, waits := o.GetName(), err == nil && mode == "WaitForFirstConsumer"
	return func() { c.update(func() { c.waits[name] = waits }) }
}

// Gone forgets a class.
func (c *storageClasses) Gone(_, name string, _ types.UID) {
	c.update(func() { delete(c.waits, name) })
}

// Synced notes that all classes are known.
func (c *storageClasses) Synced() { c.update(func() { c.synced = true }) }

func (c *storageClasses) fail(err error) { c.update(func() { c.err = err }) }

// update changes what is known, and tells of it without the lock.
func (c *storageClasses) update(change func()) {
	c.mu.Lock()
	change()
	c.mu.Unlock()
	c.changed()
}
