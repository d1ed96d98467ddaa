// Package controlplane starts a Kubernetes control plane on loopback ports and keeps it
// running until the caller stops it.
//
// Programs and a directory flow in, a kubeconfig flows out. layout.go has the paths of the
// files, and components.go the programs with their arguments. Both are pure. files.go
// writes the files, and cluster.go runs the programs. The files in manifests/ are the
// cluster's first objects, and the behaviour of its pods, volumes and load balancers. The
// package never listens outside of loopback.
package controlplane
