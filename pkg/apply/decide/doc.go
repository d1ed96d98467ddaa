// Package decide decides what happens to objects.
//
// Decide compares what rows and forms want (Input.Desired), what earlier runs recorded
// (Recorded), and what the cluster has (Observed), for the nodes that the run is about
// (Scope). It makes a plan.Plan with the guards' refusals. Recheck decides one step again in
// its turn, by the same rules.
//
// The gate (gate.go) decides every deletion, for all askers: nodes, purge, recreate, hooks,
// tombstones, prune. Each condition is one rule. Permits (permit.go) asks it again just
// before a deletion. A client can't delete an object or change its owner references without
// a Permit or an OwnersPermit, and only this package makes them. So code that skips the gate
// doesn't compile. A Survey tells the gate which objects the other files render.
//
// The other files decide what the gate asks about: guards (guard.go), the grace period of a
// node without a row (grace_period.go), the deletions of recent runs (window.go), the order
// of forms (formorder.go), rows that failed to render and may need an object (claims.go),
// which recorded hooks may run (declared.go), and how to restore a lost inventory
// (restore.go).
//
// The package is pure, so the same input gives the same plan. It never reads, waits or
// writes, and test/layers checks its imports.
package decide
