// Package inventory is the record of what a node owns.
//
// A node's inventory is one ConfigMap, in the place of the operator's LynqNode; a hub's
// record is another. This package turns inventories into ConfigMaps and back, and
// computes which objects join and leave: no IO, which the linter enforces. Package store
// loads and saves them; package lease keeps two runs off one hub.
package inventory
