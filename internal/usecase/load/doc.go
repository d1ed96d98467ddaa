// Package load turns files and rows into nodes for all use cases that need them: it loads
// hubs and forms, compiles them, finds out where rows are, and renders each active row.
package load
