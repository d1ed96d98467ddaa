// Package ready tells how far objects of Kubernetes have come: whether one is ready,
// is waited for, or has failed, and why.
//
// Objects flow in, a Readiness flows out, from the object alone. Of a
// PersistentVolumeClaim that is not bound the storage class decides; whoever watches
// or reads classes tells of them with StorageClasses.
package ready
