// Package handover takes nodes over from the Lynq operator.
//
// The operator keeps a LynqNode for each node, and that owns the node's objects. NodeOf
// reads a LynqNode. A Looker finds its objects, and proves that they belong to it. NewPlan
// says what happens to each object, and what speaks against it. A Worker carries the plan
// out in a Runner of package apply, which has the concurrency, the events and the summary.
//
// The Worker first saves the node's inventory. Then one write for each object moves its
// tracking, its owner and the operator's field manager to lynqctl. When the LynqNode has no
// object any more, the Worker deletes the LynqNode.
//
// LynqNodes flow in, a plan and the events of a run flow out. The package reads and writes
// metadata only, so the content of objects never changes. It deletes LynqNodes and, if the
// user asks for it, hubs and forms. Nothing else is deleted with them.
package handover
