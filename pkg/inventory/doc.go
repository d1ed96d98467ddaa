// Package inventory is the record of what a node owns.
//
// A node's inventory is one ConfigMap, in the place of the operator's
// LynqNode; a hub's record is another. Pure code turns inventories into
// ConfigMaps and back and computes which objects join and leave; thin code
// loads and saves them through a small interface, and holds the lease that
// keeps two runs off one hub.
//
// Records flow in and out. The package never touches the objects that records
// name, and never decides what happens to them.
package inventory
