// Package orphan finds objects that nodes left behind.
//
// An orphan is an object that lynqctl kept and marked. Its node was deleted or no longer
// needs it, and its deletion policy is Retain. Find searches all kinds, with one paged
// list of metadata per kind. On request, it also finds stranded objects. These are tracked
// objects that no inventory lists, and entries whose objects are gone.
//
// Find takes metadata and inventories, and returns orphans and failed reads. It never
// treats an unreadable object as absent. Users select orphans with a Filter.
//
// Pure functions decide what happens to orphans. Prune plans deletions, which an
// apply.Runner carries out, and says why it keeps the others. Wanted says why rows and
// forms don't adopt an orphan. A run of apply adopts the rest. Rebuild creates the
// inventories of stranded objects again. This package writes nothing.
package orphan
