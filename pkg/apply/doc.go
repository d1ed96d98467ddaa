// Package apply brings a cluster to the desired state of rendered nodes.
//
// plan.Make converts a rendered node for comparison and writes. Package observe reads live
// objects, and package decide decides about them with all policies and guards. Runner.Run
// executes plans, node by node. It writes the inventory first, then the objects in the
// order of their dependencies, and then the inventory again.
//
// Its sub-packages:
//
//	schedule  when a node gets its turn, and which nodes it waits for
//	write     brings one object to the state of a step
//	wait      the readiness of the objects that a run waits for
//	report    the events of a run, and the results of nodes and steps
//	fields    which manager has which fields of an object
//	tracking  the node and the owners of an object, from its metadata
//	ready     the readiness of an object, from the object alone
//	verify    differences between the cluster and the inventories
//
// In this package, a nodeRun decides the order of events. Each of its parts does one thing
// to a step: record, decisions, deletion, release, hooks, waiter. A part returns a move,
// which the executor executes. No part calls the node. A plan never changes. If a step is
// decided again, the result is another step in the report.Result.
//
// Plans flow in. The events of a run and its report.Result flow out. The package knows a
// cluster only by the interface Cluster, and it never prints.
package apply
