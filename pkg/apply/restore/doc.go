// Package restore decides how to restore inventories that somebody deleted or that were
// lost.
//
// Inventories and observed objects flow in. A Restoration flows out for each inventory with
// a loss. It says what the inventory lost, which objects must belong to it again, and how
// to replace it. An error says why an inventory can't be restored. Package apply executes
// restorations.
//
// The package is pure. It never gives an object an owner reference unless tracking and
// entry prove that the object belongs to the node.
package restore
