// Package lease prevents two runs on one hub with a Lease in the hub's namespace.
//
// Decide is pure. It decides what a run does about a Lease that it wants. Lock takes the
// Lease, renews it during the run, and releases it. A continuous holder yields to other
// runs. The package uses a small interface, and reads neither inventories nor objects.
// When the lock is lost, a context ends, and the run must not write any more.
package lease
