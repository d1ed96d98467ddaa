// Package delete is the use case of lynqctl delete: it deletes nodes by their recorded
// policies. A Selection chooses the nodes, so that finalize shares the run.
//
// Names and inventories flow in. Deletions flow out, and changed inventories and hub
// records. The package never deletes objects that no inventory lists.
package delete
