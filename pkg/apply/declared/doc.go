// Package declared tells which recorded hooks may run.
//
// An inventory and its Secret are a ConfigMap and a Secret: whoever may write those in a
// node's namespace may write anything into them. lynqctl runs with the rights of whoever
// started it. So a record alone makes it create nothing but Jobs and Pods in the node's own
// namespace, and where the form is known, only what the form declares.
//
// What forms declare, a record and what the node owns flow in. A reason not to run a hook
// flows out (Undeclared), or the object to be made of what was recorded (Read). The package is
// pure, and decides no deletion.
package declared
