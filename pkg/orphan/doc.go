// Package orphan finds what nodes left behind.
//
// An orphan is an object that has the markers of one: its node went, or wants
// it no more, and its deletion policy is Retain. Find looks for them among all
// kinds that the server lists, one paged list of metadata per kind. On request
// it also tells what is stranded: objects that have our tracking though no
// inventory names them, and records whose objects are gone.
//
// Listed metadata and inventories flow in; orphans, and what could not be read,
// flow out: what may not be read is never taken for absent. Filter is how people
// say which orphans they mean.
//
// What is to become of orphans is decided by pure functions. Prune makes plans of
// those that may be deleted, for an apply.Runner to carry out, and tells why it
// spares the others; Wanted tells why rows and forms do not take one back, which
// is otherwise a run of apply. Rebuild makes the records again that stranded
// objects were in. The package writes nothing.
package orphan
