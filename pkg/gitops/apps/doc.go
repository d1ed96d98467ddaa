// Package apps makes the objects that point Argo CD and Flux at a tree of files, with the
// policies that belong into those objects.
//
// Options and forms flow in; the files of Applications, ApplicationSets, GitRepositories
// and Kustomizations flow out, as bytes. Package gitops gives them their place in the tree,
// and writes them. This package reads no file and asks no cluster.
package apps
