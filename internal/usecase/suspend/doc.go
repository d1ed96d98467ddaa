// Package suspend is the use case of lynqctl suspend and resume: a person keeps lynqctl off
// a node, and lets it continue.
//
// Names flow in, and annotations on inventories flow out. The package changes no object of a
// node. It takes no Lease, because runs keep the annotations of other clients.
package suspend
