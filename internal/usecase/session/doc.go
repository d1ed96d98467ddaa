// Package session holds what all use cases share. A use case is one command, and has a
// package of its own beside this one, named like the command. It takes each step from here:
// connect, lock, read records, observe, refuse, ask, run, save.
//
// A use case that changes a cluster fills in a Change. Perform has the order of the steps,
// and the use case has their content. Run is one such run, with its client, store and
// options. A use case that only reads connects with ConnectToLook.
//
// Options flow in, as plain structs that a command fills from its flags. Results flow to a
// View, and the end of a use case is an error with an Outcome. Only pkg/apply,
// pkg/inventory and pkg/handover change objects and inventories.
//
// No use case knows a command line or a terminal. It parses no flags, and prints nothing
// itself.
package session
