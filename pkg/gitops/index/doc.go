// Package index reads and writes the index of a tree, which lists the files that lynqctl
// wrote there.
//
// An Index has an Entry for each file, with its digest, its node and its objects, and a
// Suspension for each node that a person suspended. Its last lines have the Digests of hubs,
// forms and the whole tree. Decode refuses an index that was cut, or that has a Git conflict.
// Index.Encode writes equal bytes for equal entries. A Scope says which entries a run may
// change.
//
// The package opens no file and knows no layout. It stores no value of a row.
package index
