// Package gitops makes what a form renders safe in the hands of Argo CD and
// Flux: it lays nodes out as a tree of files that Git likes.
//
// The tree is planned by pure functions. Nodes flow in, as bytes object by
// object; Lay gives each file a path, Compare holds files, index and disk
// against each other, and the plan says of every file what happens to it and
// why. An index in the tree itself lists what lynqctl wrote, so that what
// others wrote is left alone. Dir is the only thing here that reads or writes,
// and it cannot leave its folder.
//
// Package apps makes the objects that point a target at the tree, with the policies that
// belong into those. Package policy says the other policies, before rendering, as
// annotations. Package hooks makes the hooks that delete what tombstones name. Package index
// reads and writes the index.
//
// The package renders nothing, asks no cluster, and keeps no value of a row: a
// report names fields and columns, never what is in them.
package gitops
