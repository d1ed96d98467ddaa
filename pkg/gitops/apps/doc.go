// Package apps returns the objects that deploy a tree with Argo CD and Flux, with the
// policies that belong to these objects.
//
// It takes options and forms, and returns files with Applications, ApplicationSets,
// GitRepositories and Kustomizations. Package gitops adds them to the tree and writes
// them. This package reads no file and calls no cluster.
package apps
