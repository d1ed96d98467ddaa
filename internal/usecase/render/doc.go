// Package render is the use case of lynqctl render: manifests on standard output, or a
// tree of files.
package render
