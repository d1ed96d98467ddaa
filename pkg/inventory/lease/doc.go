// Package lease keeps two runs off one hub, by a Lease in the hub's namespace.
//
// Decide is pure: what a Lease means to a run that wants it. Lock takes the Lease, renews
// it for as long as the run lasts, and gives it back; a run by hand has the continuous
// one yield to it. Leases flow through a small interface. The package never touches
// inventories or objects: a context that ends tells a run that it may write no more.
package lease
