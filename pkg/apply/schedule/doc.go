// Package schedule decides when the nodes of a run get their turn, and which nodes they
// wait for.
//
//	Dependencies  work for which other nodes wait: a Namespace, a kind, an object that
//	              changes hands, an object that must leave a container, the node's end
//	Links         the dependencies that one node waits for, and those that it provides
//	Rollout       the turns of one form: how many of its nodes change at once
//	Brake         stops a form without a rollout whose first nodes all fail for one cause
//	Slots         how many nodes work at once
//
// Plans and the results of nodes and steps flow in. Turns and answers flow out. The package
// never reads a cluster, changes an object or records anything.
package schedule
