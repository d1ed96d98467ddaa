// Package gate gives permits to delete objects and to change their owner references.
//
// Only this package makes a Permit or an OwnersPermit, and no client deletes an object or
// changes its owner references without one. Code that skips the gate doesn't compile.
// Permits and Trial have package decide decide the step again. The other functions permit
// the deletion of lynqctl's own records, under one condition each.
//
// All of it is pure: nothing here reads, waits or writes.
package gate
