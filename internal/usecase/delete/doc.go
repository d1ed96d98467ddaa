// Package delete has the use cases of lynqctl delete and finalize. It deletes nodes by their
// recorded policies. A selection chooses the nodes: those that the user names, or those that
// another tool deleted and our finalizer blocks.
//
// Names and inventories flow in. Deletions flow out, and changed inventories and hub
// records. The package never deletes objects that no inventory lists.
package delete
