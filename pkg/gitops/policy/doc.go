// Package policy says the policies of a form in the words of Argo CD and Flux.
//
// A form and a target flow in. Annotate adds the annotations that the target reads, and
// returns the policies that the target doesn't honour. Order and the paths are for the
// package that writes the objects of a target, which have policies of their own.
//
// The package renders nothing, knows no rows and no files, and does no IO.
package policy
