// Package container knows which objects contain others, and which objects a namespace has
// by itself.
//
// The deletion of a Namespace or a CustomResourceDefinition deletes the objects in it (Is,
// Key, Of). Contents finds the objects that Kubernetes and other controllers put into a
// namespace. They don't keep lynqctl from deleting the namespace.
//
// References and metadata flow in, and keys and answers flow out. The package is pure. It
// never reads a cluster.
package container
