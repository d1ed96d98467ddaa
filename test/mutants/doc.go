// Command mutants tests the tests: it changes one decision of lynqctl at a time, and runs
// the tests that reach it. It prints the mutants that survive because no test notices them.
//
//	go run ./test/mutants -mutate ./pkg/apply/decide,./pkg/apply/plan ./pkg/apply/decide ./pkg/apply
//
// The packages to change flow in, and the packages whose tests must notice. The fastest
// tests run first. One line for each survivor flows out, and the score. The command
// compiles all mutants of a package once. An environment variable selects one, so a mutant
// costs a run of the tests and no build. It never changes the tree: the go command reads
// the changed files through an overlay.
//
// It changes conditions (always true, always false), statements (left out), constants
// (another one of the type) and errors (not returned).
package main
