// Package write brings one object of a cluster to what a step of a plan says, by the
// strategy of its policy, and takes the marks of a node off it.
//
// In flows a step, with the object as it was observed, a permit for owner references and
// a function that decides the step again. Out flow requests, each bound to the uid and
// version of the object that was decided on, and how they ended. An object that changed
// meanwhile is read and decided again; ProblemOf tells from an error why a write failed.
//
// The package never decides what becomes of an object, deletes none, waits for none, and
// records nothing.
package write
