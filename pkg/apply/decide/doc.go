// Package decide decides what happens to objects.
//
// Decide compares the desired nodes of rows and forms (Input.Nodes), inventories and
// observed objects. It makes a plan.Plan with the guards' refusals. Recheck decides one
// step again in its turn, by the same rules.
//
// The gate (gate.go) decides every deletion, for all askers: nodes, purge, recreate, hooks,
// tombstones, prune. Each condition is one rule. Package gate asks it again just before a
// deletion, and gives the permits that clients require. A Survey tells the gate which
// objects the other files render.
//
// The package is pure, so the same input gives the same plan. It never reads, waits or
// writes, and the linter's list of imports enforces that (.golangci.yml).
package decide
