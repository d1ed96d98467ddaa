// Package process runs children that never outlive their parent, even if SIGKILL ends the
// parent.
//
// Command lines flow in, running children flow out. On Linux, the kernel kills a child when
// its parent dies. On all systems, a reaper does that: a small process that kills the
// remaining children when its pipe closes. The package never ends a process that it didn't
// start.
package process
