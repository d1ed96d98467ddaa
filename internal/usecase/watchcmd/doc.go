// Package watchcmd holds the use cases of lynqctl watch. It applies again and again when rows,
// files or objects change. It also approves held deletions, and prints manifests that run a
// watch in a cluster.
//
// Options, files, rows and events of the cluster flow in. Rounds flow out, which package
// applycmd plans and carries out. The package never carries out a deletion that a guard holds
// without an approval.
package watchcmd
