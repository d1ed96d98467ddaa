// Package binaries finds the programs of a control plane, and builds them from
// the module graph of test/cluster into a cache outside the source tree.
package binaries
