// Package claim finds a row that failed to render and may need an object or a node.
//
// Nodes that failed to render flow in. The row that blocks a deletion flows out. The
// package decides nothing. It only knows that a row may need an object, never that it does.
package claim
