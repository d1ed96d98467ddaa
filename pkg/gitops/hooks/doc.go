// Package hooks returns the hooks with which Argo CD deletes the objects of tombstones.
// They are Jobs with kubectl commands, and their RBAC objects.
//
// It takes tombstones, and returns the bytes of objects. It refuses tombstones for which
// no safe kubectl command exists. It reads no file and calls no cluster.
package hooks
