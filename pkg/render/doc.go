// Package render turns forms and rows into Kubernetes manifests.
//
// It compiles a form once into a program. The program turns each row into a node, either
// as objects or as bytes of YAML. Static parts of a form become bytes before the first
// row, and package expr evaluates the other strings. Plain references to columns, and the
// most common functions of them, never run the template interpreter. The byte writer and
// the object builder share one program.
//
// The package takes forms and rows. It returns bytes, objects and problems with file,
// line, form, resource, field and row. It opens no source and calls no cluster. It reads
// the clock and randomness only for resources that lynqctl creates only once.
package render
