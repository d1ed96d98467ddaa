// Package binaries finds the programs of a control plane, and builds them.
//
// The module graph of test/cluster flows in, paths of programs flow out. The package builds
// into a cache, and never writes into the source tree.
package binaries
