// Package declared decides which recorded hooks may run.
//
// Anybody who may write ConfigMaps and Secrets in a node's namespace may write anything
// into an inventory and its Secret. lynqctl runs with the permissions of the user who
// started it. So from a record alone, it creates only Jobs and Pods in the node's own
// namespace. If the form is known, it creates only hooks that the form declares.
//
// The forms' hooks, a record and the node's objects flow in. A reason not to run a hook
// flows out (Undeclared), or the object to create (Read). The package is pure, and never
// decides a deletion.
package declared
