// Package apply brings a cluster to what rendered nodes say.
//
// Make turns a rendered node into what is compared and sent. Package observe reads what
// there is, package plan decides what becomes of it: all policies and guards are there.
// Run carries a plan out, and is the only code that changes objects: the inventory first,
// then the objects in the order of their dependencies, then the inventory again. What
// others manage of an object is the matter of package fields, and how far objects have
// come that of package ready.
//
// Plans flow in; the events of a run, and its summary, flow out. The package knows no
// client: what it needs of a cluster is the interface Cluster. It prints nothing.
package apply
