// Package store loads and saves inventories and the records of hubs, through a small
// interface to ConfigMaps.
//
// Saving never takes another client's record for ours: each write has the version that
// was read as its precondition, and one whose answer was lost finds its own effect. A
// record goes behind its finalizer, and is restored from a copy where it was deleted by
// hand. The package never touches the objects that records name, and never decides what
// happens to them.
package store
