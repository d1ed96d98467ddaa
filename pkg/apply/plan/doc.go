// Package plan holds what lynqctl means to do, as values.
//
// A Plan has a NodePlan for each node and a Step for each object, which says what is done,
// why, and on which precondition. Nodes and Objects are what rows and forms want, Observed
// is what this run has seen, and an Owner is a node as the tracking of its objects names
// it. The methods say what follows from one value alone: what an inventory records after a
// step, whether an object drifted, whether a step deletes. Package decide makes plans.
//
// All of it is pure: nothing here reads, waits or writes, and the linter's list of imports
// shows that (.golangci.yml).
package plan
