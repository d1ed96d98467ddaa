// Package changeset groups the changes of many objects that have the same shape, so that a
// person can judge ten thousand of them at a glance.
//
// Changes flow in: of each object the action, and the fields with their values and causes.
// A Set flows out. Its groups partition the changes: each change is in exactly one group. A
// group says what all its changes share, how many nodes they concern, and which of them
// differ. Find names what a reviewer must know of a change, by codes (docs/findings.md).
//
// The package reads and writes nothing. It shows values as its callers pass them, so callers
// hide secret values first.
package changeset
