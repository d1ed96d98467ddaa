// Package process runs children that do not outlive their parent, not even one
// that is killed with SIGKILL.
//
// Two things see to that: on Linux the kernel kills a child when its parent
// dies; everywhere a reaper, a small process that holds the end of a pipe,
// kills what is left when the pipe closes.
package process
