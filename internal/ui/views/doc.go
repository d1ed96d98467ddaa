// Package views makes the lists and details that commands print: nodes, inventories,
// orphans, findings, permissions and losses.
//
// Results of use cases flow in. A list.List or list.Details flows out, with the columns,
// the words of each cell, and the fields for JSON and YAML. A Log writes what a watch does.
// The package never reads a cluster.
package views
