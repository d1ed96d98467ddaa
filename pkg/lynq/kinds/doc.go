// Package kinds knows facts about the kinds and clients of Kubernetes itself: the scope and
// the readiness of kinds, and which field managers work on the client's side.
//
// Groups, kinds and names of managers flow in, answers flow out. The package asks no cluster,
// so it knows nothing about custom resources.
package kinds
