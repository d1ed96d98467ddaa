// Package policy translates the policies of a form for Argo CD and Flux.
//
// Annotate adds the target's annotations to a form, and returns the policies that the
// target doesn't honor. The package that writes the target's own objects uses Order and
// the path functions, because these objects have policies too.
//
// The package renders nothing, knows no rows and no files, and does no IO.
package policy
