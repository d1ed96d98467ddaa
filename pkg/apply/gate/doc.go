// Package gate gives permits to delete objects and to change their owner references.
//
// Only this package makes a Permit or an OwnersPermit. A client can't delete an object or
// change its owner references without one, because code that skips the gate doesn't
// compile. Permits and Trial have package decide decide the step again. The other functions
// permit the deletion of lynqctl's own records, under one condition each.
//
// Plans, steps and inventories flow in. Permits flow out, or errors that say why not. The
// package is pure. It never reads, waits or writes.
package gate
