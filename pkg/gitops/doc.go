// Package gitops lays rendered nodes out as a tree of files for Git, so that Argo CD and
// Flux can apply them safely.
//
// Pure functions plan the tree. They take the bytes of each object. Lay gives each file a
// path. Compare compares the files with the index and the disk, and plans what happens to
// each file and why. An index in the tree lists the files that lynqctl wrote, so that
// lynqctl doesn't change others. Only Dir reads and writes, and it can't leave its folder.
//
// Package apps returns the objects that deploy the tree, with their policies. Package
// policy adds other policies as annotations before rendering. Package hooks returns hooks
// that delete the objects of tombstones. Package index reads and writes the index.
//
// The package renders nothing, calls no cluster, and stores no value of a row. Reports
// name fields and columns, but never their values.
package gitops
