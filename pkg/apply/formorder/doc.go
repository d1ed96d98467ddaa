// Package formorder orders the nodes of a plan whose forms depend on each other (dependForms).
//
// A plan and the hub's inventories flow in. Arrange notes in the plan which nodes wait for
// which, and skips the steps of a node whose dependency is missing or not ready. A guard's
// refusal flows out where a person deletes a node that others depend on.
//
// The package decides no deletion: it makes one wait, or keeps the object. It is pure.
package formorder
