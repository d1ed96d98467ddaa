// Package ownprocess names this process so that a later one on the same host can tell
// whether it still runs, and tells whether an earlier one does.
//
// In go what /proc and the environment say; out comes a lease.Process. Where /proc does
// not tell, or the system has none, a process has no such name, and every other one
// counts as running.
package ownprocess
