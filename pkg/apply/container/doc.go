// Package container tells which objects contain others, and what is in a namespace by
// itself.
//
// Deleting a Namespace or a CustomResourceDefinition deletes the objects in it (Is, Key,
// Of). Contents tells which of the objects in a namespace Kubernetes and other controllers
// put there, so that they don't keep lynqctl from deleting it. Everything here is pure: the
// package reads no cluster.
package container
