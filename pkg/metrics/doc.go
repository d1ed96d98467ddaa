// Package metrics counts for Prometheus what lynqctl does.
//
// The engine reports facts through the methods of its interface Metrics: read rows, plans,
// events of runs, inventories and requests. Series flow out, to an HTTP server or into a
// file for node_exporter. They have the names and labels of the Lynq operator if it has such
// a series.
//
// The package decides nothing, and asks no cluster. It has a registry of its own instead of
// the global one. No series has a value of a row, except for names of nodes and objects. Any
// text may be invalid UTF-8.
package metrics
