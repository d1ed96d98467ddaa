// Package statuscmd is the use case of lynqctl status. It lists nodes, shows one node in full,
// and keeps such lists up to date.
//
// Options, inventories and live objects flow in, and the states of nodes flow out. The
// package never writes to a cluster.
package statuscmd
