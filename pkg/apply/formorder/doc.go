// Package formorder orders the nodes of a plan by the dependencies of their forms
// (dependForms).
//
// A plan and the hub's inventories flow in. Arrange notes in the plan which nodes wait for
// which. It skips the steps of a node with a dependency that is missing or not ready. A
// guard's refusal flows out if the user deletes a node that others depend on.
//
// The package is pure. It never decides a deletion: it delays one, or keeps the object.
package formorder
