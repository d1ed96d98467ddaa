// Package ownprocess names this process, so that a later process on the same host can check
// whether it still runs. It also checks that for an earlier process.
//
// /proc and the environment flow in, a lease.Process flows out. If /proc has no answer, or
// the system has no /proc, a process has no name, and every other process counts as
// running. The package never ends a process.
package ownprocess
