// Package hooks makes the hooks by which Argo CD deletes the objects that tombstones name:
// Jobs of kubectl calls, and the rights for them.
//
// Tombstones flow in; objects flow out, as bytes. The package refuses tombstones of which
// no safe call of kubectl can be made. It reads no file and asks no cluster.
package hooks
