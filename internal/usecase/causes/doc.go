// Package causes reads from a cluster why objects do not get ready: their pods, and the
// warnings of their namespaces.
package causes
