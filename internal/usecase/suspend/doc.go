// Package suspend is the use case of lynqctl suspend and resume: a person keeps lynqctl off
// a node, and lets it continue.
//
// Names flow in, and annotations on inventories flow out, or lines in the index of a tree. The
// package changes no object of a node, and no other file. It takes no Lease, because runs keep
// the annotations of other clients. In a tree, it takes the lock of render.
package suspend
