// Package claim finds the row that may want an object, or be the row of a node, although it
// could not be rendered.
//
// Nodes that failed to render flow in; the row that holds a deletion up flows out. The package
// decides nothing, and never takes a row for sure.
package claim
