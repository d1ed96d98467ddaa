// Command mutants tests the tests: it changes one decision of lynqctl at a time, and runs
// the tests that reach it. A mutant that no test notices survives, and is printed.
//
//	go run ./test/mutants -mutate ./pkg/apply/decide,./pkg/apply/plan ./pkg/apply/decide ./pkg/apply
//
// In: packages to change, and packages whose tests must notice; the tests of the fastest
// run first. Out: one line for each survivor, and the score. All mutants of a package are
// compiled once, and an environment variable selects one, so that a mutant costs a run of
// the tests and no build. The tree is never changed: the go command reads the changed
// files through an overlay.
//
// It changes conditions (always true, always false), statements (left out), constants
// (another one of the type) and errors (not returned).
package main
