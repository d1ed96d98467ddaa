package apply

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// StorageClasses is what is known of the classes on which the readiness of claims
// depends.
type StorageClasses struct {
	// Waits has the classes, and whether each binds a claim only when a pod uses it.
	Waits map[string]bool
	// Complete: there are no others. Err is why nothing more will be known.
	Complete bool
	Err      error
}

// waitsForConsumer tells whether a storage class binds a claim only when a pod uses it.
func waitsForConsumer(class *unstructured.Unstructured) bool {
	mode, _, err := unstructured.NestedString(class.Object, "volumeBindingMode")
	return err == nil && mode == "WaitForFirstConsumer"
}

// decide is the readiness of a claim that is not bound: ready where its class waits
// for a consumer, which may well be one of those that depend on it. What is not known
// is waited for.
func (c *StorageClasses) decide(claim Readiness) Readiness {
	waits, known := c.Waits[claim.class]
	switch {
	case waits:
		return ready("waiting for the first consumer")
	case known:
		return waiting("not bound: storage class %q has given no volume yet", claim.class)
	case c.Err != nil:
		return waiting("%s: %v", claim.Message, c.Err)
	case c.Complete:
		return waiting("not bound: there is no storage class %q", claim.class)
	}
	return waiting("%s yet", claim.Message)
}

// ReadinessOf tells how far an object has come. Where that depends on a storage
// class, class is asked for it.
func ReadinessOf(o *unstructured.Unstructured, class func(name string) (*unstructured.Unstructured, error)) Readiness {
	r := readiness(o)
	if r.class == "" {
		return r
	}
	classes := StorageClasses{}
	found, err := class(r.class)
	switch {
	case err == nil:
		classes.Waits = map[string]bool{r.class: waitsForConsumer(found)}
	case apierrors.IsNotFound(err):
		classes.Complete = true
	default:
		classes.Err = err
	}
	return classes.decide(r)
}
