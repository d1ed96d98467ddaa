// Package deploy makes the manifests of what runs in the cluster: the Deployment of a watch,
// or the Job of shards, with ServiceAccount and ConfigMaps, beside roles that others made.
//
// In goes what is to run and with which inputs, as plain data; out comes YAML, the same
// for the same data. Nothing here reads files, asks a cluster, or sees a password: those
// are named by the Secret that has them.
package deploy
