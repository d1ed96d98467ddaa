// Package restore decides what inventories get back that were deleted or lost.
//
// Inventories and what was observed flow in. A Restoration flows out for each inventory that
// lost something: what it lost, which objects are to belong to it again, and how it is
// replaced. An error says why one can't be restored. Package apply carries restorations out.
//
// The package is pure. It gives an object an owner reference only where tracking and record
// prove that the object is the node's.
package restore
