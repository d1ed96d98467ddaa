// Package apply brings a cluster to what rendered nodes say.
//
// plan.Make turns a rendered node into what is compared and sent. Package observe reads what
// there is, and package decide decides what becomes of it: all policies and guards are
// there. Runner.Run carries plans out, node by node: the inventory first, then the
// objects in the order of their dependencies, then the inventory again.
//
// Its rooms:
//
//	schedule  when a node gets its turn, and what nodes wait for from each other
//	progress  how far the steps of a node are, and what they wait for from each other
//	write     brings one object to what a step says
//	wait      how far the objects are that a run waits for
//	report    what a run tells: events, and how each node and step ended
//	hook      keeps what runs before a node is deleted
//	fields    who manages which fields of an object
//	tracking  what an object's metadata tells
//	verify    how the cluster differs from its records
//	ready     how far an object has come, from the object alone
//
// Here a nodeRun says what happens when, and each of its parts does one thing to a step:
// record, decisions, deletion, release, hooks, lookout. A part gives back a move, which the
// carrier carries out; none calls back into the node. A plan stays as it is: a step that is
// decided again is another step, in the report.Result.
//
// Plans flow in; the events of a run, and its report.Result, flow out. The package knows no
// client: what it needs of a cluster is the interface Cluster. It prints nothing.
package apply
