// Package engine holds the use cases: apply, diff, delete, finalize, adopt, prune,
// rebuild, verify, status and the handover from the Lynq operator. There is one
// implementation of each step that they share: read inputs and rows, take the Leases,
// read inventories, observe, decide, refuse, ask, run, save.
//
// Options flow in, plain structs that a command fills from its flags; what a use case
// shows goes to a View, and how it ended is an error with an Outcome. Objects and
// inventories change only through pkg/apply, pkg/inventory and pkg/handover.
//
// The package knows no command line and no terminal: it parses no flags, and prints
// nothing itself.
package engine
