package ready

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// StorageClasses knows the storage classes on which the readiness of claims depends.
type StorageClasses struct {
	// Waits says for each class whether it binds a claim only when a pod uses the claim.
	Waits map[string]bool
	// Complete is set if no other classes exist. Err says why the list will never be
	// complete.
	Complete bool
	Err      error
}

// WaitsForConsumer reports whether a storage class binds a claim only when a pod uses the
// claim.
func WaitsForConsumer(class *unstructured.Unstructured) bool {
	mode, _, err := unstructured.NestedString(class.Object, "volumeBindingMode")
	return err == nil && mode == "WaitForFirstConsumer"
}

// Decide returns the readiness of an unbound claim. The claim is ready if its class waits
// for a consumer, because the consumer may depend on the claim. If the class isn't known,
// the claim waits.
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

// String lists all classes and their modes. It returns "" if some aren't known.
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

// WithClass returns the readiness of an object. It calls class if that depends on a storage
// class.
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
