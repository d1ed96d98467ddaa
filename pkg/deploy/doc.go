// Package deploy makes the manifests of a watch that runs in the cluster: its Deployment,
// ServiceAccount and ConfigMaps, beside roles that others made.
//
// In goes what is to run and with which inputs, as plain data; out comes YAML, the same
// for the same data. Nothing here reads files, asks a cluster, or sees a password: those
// are named by the Secret that has them.
package deploy
