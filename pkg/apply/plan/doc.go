// Package plan decides what becomes of objects.
//
// Decide compares what rows and forms want (Input.Nodes), what inventories record and
// what was observed, and makes a Plan: one Step for each object, which says what is
// done, why, and on which precondition, and the guards' Refusals. Recheck decides one
// step again when its turn comes, by the same rules. Verify says how records and
// cluster differ. LiveOf, Namespaces and Counting prepare what is decided on; Turns
// says which nodes of a form may change at once.
//
// All of it is pure: the same input gives the same plan. Nothing here reads, waits or
// writes, and the linter's list of imports shows that (.golangci.yml).
package plan
