// Package deploy makes the manifests of pods that run lynqctl: the Deployment of a watch, or
// the Job of shards, with a ServiceAccount, ConfigMaps and given roles.
//
// Options flow in as plain data, YAML flows out. The same data gives the same YAML. The
// package reads no files, asks no cluster, and sees no password: it names the Secret that
// has one.
package deploy
