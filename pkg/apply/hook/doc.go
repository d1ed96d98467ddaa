// Package hook keeps what runs before a node is deleted, until it runs.
//
// Manifests has the manifests of a node's hooks, in a Secret beside the node's inventory:
// the row may be gone when they run. It checks what a record names before anything runs
// of it. In flow objects of forms and the inventory that names them; out flow the objects
// to run. Running them is the matter of the runner: they are steps of its plan.
package hook
