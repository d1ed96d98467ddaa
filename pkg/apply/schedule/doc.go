// Package schedule says when the nodes of a run get their turn, and what they wait for
// from each other.
//
//	Promises  what nodes do that other nodes wait for: a Namespace, a kind, an object
//	          that changes hands, an object that must leave a container, the node's end
//	Links     the promises that one node waits for, and those that it keeps
//	Rollout   the turns of one form: how many of its nodes change at once
//	Slots     how many nodes are at work at once
//	Budget    which writes aren't tried for long any more, because they fail for all nodes
//
// In flow plans, and how nodes and steps end. Out flow turns and answers. The package
// reads no cluster, changes no object and records nothing.
package schedule
