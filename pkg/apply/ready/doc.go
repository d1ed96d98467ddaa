// Package ready computes the readiness of Kubernetes objects: whether one is ready, waits
// or has failed, and why.
//
// An object flows in, and a Readiness flows out, from the object alone. The readiness of an
// unbound PersistentVolumeClaim also depends on its storage class. The caller reads or
// watches classes and passes them as StorageClasses. The package never reads a cluster.
package ready
