// Package completion finds what a shell offers for the arguments and flags of commands:
// names from inputs, from the cluster, and from the kubeconfig.
package completion
