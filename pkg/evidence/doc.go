// Package evidence tells how the rows of a source differ from those of the last run.
//
// What flows in are the rows of a hub, one after the other, and what the last run noted of
// its rows. What comes out is an Evidence, and a note for the next run. A note has no
// value: of each row a digest of its uid, and of each column 16 bits, which many values have.
// It is bounded: of a source with more rows it has a sample.
//
// The package reads and writes nothing.
package evidence
