// Package controlplane starts a Kubernetes control plane on loopback ports and
// keeps it running until it is told to stop.
//
// layout.go says where its files are, components.go which programs run with
// which arguments; both are pure. files.go writes what they read, and
// cluster.go runs them. The files in manifests/ say what the cluster holds
// from the start and how its pods, volumes and load balancers behave.
package controlplane
