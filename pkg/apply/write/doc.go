// Package write brings one object of a cluster to the state of a step, by the strategy of
// its policy. It also removes a node's tracking from an object.
//
// A step with the observed object, a permit for owner references, and a function that
// decides the step again flow in. Requests and their results flow out. Each request is
// bound to the uid and version of the object that was decided on. If the object changed
// meanwhile, the package reads it and has it decided again. ProblemOf finds out from an
// error why a write failed.
//
// The package never decides about an object. It never deletes one, waits for one, or
// records anything.
package write
