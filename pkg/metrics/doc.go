// Package metrics counts for Prometheus what lynqctl does.
//
// What happens flows in, through the methods that the engine's interface Metrics asks for:
// rows that were read, plans, events of runs, records of nodes, requests. Series flow out,
// with the names and labels of the Lynq operator where it has them: to an HTTP server, or
// into a file for node_exporter.
//
// The package decides nothing and asks no cluster. It has a registry of its own, and no
// global one. What rows say is in no series but as names of nodes and objects; no text is
// taken for valid UTF-8.
package metrics
