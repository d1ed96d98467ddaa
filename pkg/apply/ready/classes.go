package ready

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// StorageClasses knows the classes on which the readiness of claims depends.
type StorageClasses struct {
	// Waits has the classes, and whether each binds a claim only when a pod uses it.
	Waits map[string]bool
	// Complete: there are no others. Err is why nothing more will be known.
	Complete bool
	Err      error
}

// WaitsForConsumer tells whether a storage class binds a claim only when a pod uses it.
func WaitsForConsumer(class *unstructured.Unstructured) bool {
	mode, _, err := unstructured.NestedString(class.Object, "volumeBindingMode")
	return err == nil && mode == "WaitForFirstConsumer"
}

// Decide is the readiness of a claim that is not bound: ready where its class waits
// for a consumer, which may well be one of those that depend on it. What is not known
// is waited for.
func (c *StorageClasses) Decide(claim Readiness) Readiness {
	waits, known := c.Waits[claim.Class]
	switch {
	case waits:
		return ready("waiting for the first consumer")
	case known:
		return Waiting("not bound: storage class %q has given no volume yet", claim.Class)
	case c.Err != nil:
		return Waiting("%s: %v", claim.Message, c.Err)
	case c.Complete:
		return Waiting("not bound: storage class %q doesn't exist", claim.Class)
	}
	return Waiting("%s yet", claim.Message)
}

// String names all classes and what they wait for, "" where not all are known.
func (c *StorageClasses) String() string {
	if c == nil || !c.Complete {
		return ""
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.Waits)) {
		_, _ = fmt.Fprintf(&text, "%s %t\n", name, c.Waits[name])
	}
	return text.String()
}

// WithClass tells how far an object has come. Where that depends on a storage
// class, class is asked for it.
func WithClass(o *unstructured.Unstructured, class func(name string) (*unstructured.Unstructured, error)) Readiness {
	r := Of(o)
	if r.Class == "" {
		return r
	}
	classes := StorageClasses{}
	found, err := class(r.Class)
	switch {
	case err == nil:
		classes.Waits = map[string]bool{r.Class: WaitsForConsumer(found)}
	case apierrors.IsNotFound(err):
		classes.Complete = true
	default:
		classes.Err = err
	}
	return classes.Decide(r)
}
