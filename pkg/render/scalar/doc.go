// Package scalar writes texts and numbers as YAML scalars that all readers read alike.
//
// A text flows in, and how it is written flows out: plain where no reader of YAML 1.1 or
// 1.2 takes it for anything else, in quotes or as a block of lines where one would. The
// package also knows what kustomize and Flux make of texts. It knows no forms and no rows,
// and does no IO.
package scalar
