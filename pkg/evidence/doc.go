// Package evidence finds out how the rows of a source differ from those of the last run.
//
// The rows of a hub flow in one by one, with the note of the last run. An Evidence and a note
// for the next run flow out. A note has no value: it has a digest of each row's uid, and 16
// bits for each column, which many values share. Its size is limited, so a source with many
// rows has a sample in it.
//
// The package reads and writes nothing.
package evidence
