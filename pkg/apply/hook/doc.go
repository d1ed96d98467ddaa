// Package hook stores deletion hooks until lynqctl deletes their node.
//
// Manifests keeps the manifests of a node's hooks in a Secret beside the node's inventory,
// because the row may be gone when they run. It checks everything that a record names
// before a hook runs.
//
// Objects of forms and inventories with hooks flow in. The objects to run flow out. The
// package never runs a hook. The runner does, because hooks are steps of its plan.
package hook
