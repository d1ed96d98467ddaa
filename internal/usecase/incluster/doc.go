// Package incluster gathers what pods need that run a command in the cluster: their files,
// the places of passwords, and the least permissions. The use cases watch and shard name
// the command.
//
// Inputs and options flow in, and a deploy.Options flows out. The package reads files, asks
// the cluster only for kinds that the inputs leave open, and writes nothing.
package incluster
