// Package progress tells how far the steps of a node are, and what they wait for from each
// other.
//
// A Step is a step of a plan with what became of it. Steps are those of one node: they tell
// which may begin (Awaited, MayLeave, ToPurge), how the node ends (Worst), and which entries
// the inventory keeps (Confirmed, Left). An Account has what the inventory is told of the
// objects. Package apply carries steps out and notes in them how they went.
//
// Everything here is pure: nothing reads, waits or writes. No deletion is decided here.
package progress
