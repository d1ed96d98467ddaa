// Package observe reads what there is of the objects that nodes want and inventories
// name, as package plan needs it to decide.
//
// Nodes and inventories flow in; metadata, and readiness where it is asked for, flow
// out. What the server does not show of a kind, or of an object, is unknown, and never
// absent. An error means that nothing is known: the server cannot be asked.
//
// Reading is cheap: one paged list of metadata per kind finds what has the hub's label,
// and only what is wanted and not among it is looked at by itself. The lists of kinds that
// rows make are read while inventories are. The package knows no
// client: what it needs of a cluster is the interface Reader, which can change nothing.
package observe
