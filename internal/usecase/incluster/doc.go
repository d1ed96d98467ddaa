// Package incluster says what lynqctl needs in a cluster: the least permissions for given
// inputs, those that a user lacks, and the manifests with which pods run a command. The pods
// are watch in a Deployment, and apply in the Jobs of shards.
//
// Inputs and options flow in, rules and manifests flow out. The package gathers the files and
// the places of passwords. It asks the cluster only for kinds that the inputs leave open, and
// for permissions of the user, and writes nothing.
package incluster
