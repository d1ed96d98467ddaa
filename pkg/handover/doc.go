// Package handover takes nodes over from the Lynq operator.
//
// The operator keeps a LynqNode for each node, and its objects belong to that.
// NodeOf reads one, Look finds its objects and proves that they are its own,
// NewPlan says what happens to each and what speaks against it, and a Worker
// carries that out in the hands of a Runner of package apply, whose the concurrency,
// the events and the summary are: the node's inventory first, then for each object one
// write that moves its tracking, its owner and the operator's field manager to lynqctl,
// and last, when nothing belongs to the LynqNode any more, the LynqNode itself.
//
// LynqNodes as they were read flow in; a plan, and the events of a run, flow out.
// Of objects nothing but metadata is ever read or written: their content stays as
// it is, whatever happens. Nothing is deleted but LynqNodes and, where that is asked
// for, hubs and forms, and never so that anything goes with them.
package handover
