// Package applycmd is the use case of lynqctl apply. Rows become nodes, and nodes and the
// cluster become a plan. A Job carries out the plan. adopt, diff, rebuild and watch carry
// out parts of a Job.
//
// Options, files, rows and cluster state flow in. Changed objects, inventories and hub
// records flow out. The package never deletes an object that no inventory or tombstone
// lists.
package applycmd
