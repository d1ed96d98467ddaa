// Package status computes the states of nodes, and how objects differ from what inventories
// record of them.
//
// It takes inventories and the current objects, and returns rows, totals and trees as
// plain data. The package reads no cluster and no clock, and prints nothing. Its callers
// do that.
package status
