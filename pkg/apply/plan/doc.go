// Package plan has the types for everything that lynqctl plans to do.
//
// A Plan has a NodePlan for each node and a Step for each object. A Step has the action,
// the reason and the precondition. Nodes and Objects are the desired state from rows and
// forms, and Observed is the state that this run read. An Owner is a node as the tracking
// of its objects names it. Methods compute facts that follow from one value. Examples are
// the entry to record after a step, whether an object drifted, and whether a step deletes.
// Package decide makes plans.
//
// The package is pure. It never reads, waits or writes, and test/layers checks its imports.
package plan
