// Package render turns forms and rows into Kubernetes manifests.
//
// A form is compiled once into a program; a row goes into the program and a
// node comes out, as objects or as bytes of YAML. Static parts of a form are
// bytes before the first row is read; package expr runs the other strings for
// rows. Plain references to columns, and the commonest functions of them, never
// enter the template interpreter. The byte writer and the object builder run the
// same program.
//
// Forms and rows flow in; bytes, objects and problems with file, line, form,
// resource, field and row flow out. The package opens no source, asks no
// cluster, and reads neither clock nor randomness unless a resource that is
// created only once asks for it.
package render
