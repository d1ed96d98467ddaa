// Package status tells how nodes are.
//
// Inventories, and objects as they are now, flow in; rows, sums and trees of
// plain data flow out. The package reads nothing itself, asks no clock and draws
// nothing: who reads the cluster, and who shows what came of it, is up to others.
package status
