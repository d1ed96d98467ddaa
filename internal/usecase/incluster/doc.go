// Package incluster gathers what manifests are made of that run a command in the cluster: the
// files that pods have, where passwords come from, and the least rights. The use cases watch
// and shard say which command that is.
//
// In go inputs and options; out come a deploy.Options. It reads files, asks the cluster only
// for kinds that the inputs do not say, and writes nothing.
package incluster
