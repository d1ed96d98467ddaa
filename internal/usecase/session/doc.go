// Package session holds what all use cases share. A use case is one command: it has a
// package of its own beside this one, named like the command, and takes from here one
// implementation of each step: connect, lock, read records, observe, refuse, ask, run, save.
//
// A use case that changes a cluster fills in a Change: Perform has the order of the steps,
// and the use case has what differs. Run is one such run: its client, its store and what it
// was told. One that only reads connects with ConnectToLook.
//
// Options flow in, plain structs that a command fills from its flags. What a use case
// shows goes to a View, and how it ended is an error with an Outcome. Objects and
// inventories change only through pkg/apply, pkg/inventory and pkg/handover.
//
// No use case knows a command line or a terminal: it parses no flags, and prints nothing
// itself.
package session
