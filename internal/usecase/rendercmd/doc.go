// Package rendercmd is the use case of lynqctl render: it writes manifests to standard output,
// or a tree of files.
//
// Options, files and rows flow in, manifests flow out. The package never changes a cluster,
// and never overwrites files of others without Force.
package rendercmd
