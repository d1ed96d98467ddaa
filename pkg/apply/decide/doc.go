// Package decide decides what becomes of objects.
//
// Decide compares what rows and forms want (Input.Nodes), what inventories record and
// what was observed, and makes a plan.Plan with the guards' refusals. Recheck decides one
// step again when its turn comes, by the same rules.
//
// The gate (gate.go) decides every deletion, for everything that asks: nodes, purge,
// recreate, hooks, tombstones, prune. Each condition is one rule. Package gate asks again
// for a step that is about to delete, and gives the permits that clients require. A Survey
// tells the gate what the rest of the inputs renders.
//
// All of it is pure: the same input gives the same plan. Nothing here reads, waits or
// writes, and the linter's list of imports shows that (.golangci.yml).
package decide
