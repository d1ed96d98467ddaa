// Package progress records how far the steps of a node are, and which of them wait for
// others.
//
// A Step is a step of a plan with its result. Steps are the steps of one node. They say
// which steps may begin (Awaited, MayLeave, ToPurge), how the node ends (Worst), and which
// entries the inventory keeps (Confirmed, Left). An Account describes the objects for the
// inventory. Package apply executes steps and notes their results here.
//
// The package is pure. It never reads, waits or writes, and never decides a deletion.
package progress
