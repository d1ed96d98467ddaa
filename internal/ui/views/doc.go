// Package views makes the lists and details that commands print: nodes, inventories,
// orphans, findings, rights and losses.
//
// Each function takes what a use case found and gives a list.List or list.Details: the
// columns, the words of each cell, and the fields that programs get as JSON and YAML. A Log
// writes what a watch does.
package views
