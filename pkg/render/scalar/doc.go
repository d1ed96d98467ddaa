// Package scalar writes texts and numbers as YAML scalars that all readers read alike.
//
// It chooses the style of a text. It writes the text plain if no YAML 1.1 or 1.2 reader
// takes it for something else. Otherwise it uses quotes or a block of lines. The package
// also knows how kustomize and Flux change texts. It knows no forms and no rows, and does
// no IO.
package scalar
