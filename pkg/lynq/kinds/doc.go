// Package kinds tells what holds for the kinds and clients that Kubernetes itself brings:
// their scope, their readiness, and which field managers work on the client's side.
//
// Groups, kinds, and names of managers flow in; answers flow out. The package asks no
// cluster, so it knows nothing of custom resources.
package kinds
