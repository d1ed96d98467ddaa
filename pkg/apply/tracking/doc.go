// Package tracking reads an object's metadata. It finds out which node the object belongs
// to, which other nodes and tools claim it, and which of its fields lynqctl manages.
//
// LiveOf extracts the part that a run keeps. Function marks has the tools that lynqctl knows
// by their labels, annotations and field managers. Containers are objects whose deletion
// deletes others: Namespaces and CustomResourceDefinitions. Contents finds the objects that
// Kubernetes and other controllers put into a namespace.
//
// The metadata of one object flows in. A Live, the keys that a takeover removes, and answers
// flow out. The package reads no cluster, and never decides.
package tracking
