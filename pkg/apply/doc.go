// Package apply brings a cluster to what rendered nodes say.
//
// Observe reads what is there: inventories, and the metadata of everything that
// a hub's nodes own, one paged list per kind. Package plan decides what becomes of
// it; all policies and guards are there. Run carries a plan out, and is the only code
// that changes objects: the record first, then the objects in the order of their
// dependencies, then the record again. What others manage of an object is the matter
// of package fields, and how far objects have come that of package ready.
//
// Rendered nodes flow in; plans, and the events of a run, flow out. The package
// knows no client: what it needs of a cluster is the interface Cluster. It
// prints nothing.
package apply
