// Package observe reads the objects that nodes render and that inventories list, because
// package decide needs their state.
//
// Nodes and inventories flow in. Metadata flows out, and readiness on request. If the
// server doesn't show a kind or an object, it is unknown, and never absent. An error means
// that nothing is known, because lynqctl can't reach the server.
//
// Reading is cheap. One paged list of metadata for each kind finds the objects with the
// hub's label. Only needed objects outside that list cost a request each. Lists of the
// rows' kinds and inventories are read at the same time. The package never writes: it knows
// a cluster only by the interface Reader.
package observe
