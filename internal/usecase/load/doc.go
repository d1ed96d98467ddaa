// Package load turns files and rows into nodes, for all use cases that need them.
//
// Options, files and rows flow in, rendered nodes flow out. The package loads hubs and
// forms, compiles them, finds the sources, and renders each active row. It never writes to
// a cluster.
package load
