// Package incluster prints the manifests with which pods run a command in the cluster:
// watch in a Deployment, and apply in the Jobs of shards.
//
// Inputs and options flow in, manifests flow out. The package gathers the files, the places
// of passwords and the least permissions that the pods need. It asks the cluster only for
// kinds that the inputs leave open, and writes nothing.
package incluster
