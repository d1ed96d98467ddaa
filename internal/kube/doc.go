// Package kube is lynqctl's side of the Kubernetes API: it implements with
// client-go what other packages declare as small interfaces.
//
// Access says which cluster is meant, as kubectl's flags and kubeconfigs do.
// Client talks to it: it is apply's Cluster, and with ConfigMaps and Leases the
// store of inventories. The package decides nothing.
//
// What all methods of Client have in common:
//
//   - What may pass is tried again, here and nowhere else: server errors,
//     answers that say "later", connections that break. Seven tries take some
//     20 seconds. So a request whose answer was lost may find its own effect.
//   - Nothing limits the rate of requests but the server.
//   - A list comes whole or not at all, and all of it as of one moment.
//   - Answers are asked for in protobuf, and of objects that apply writes only
//     the metadata.
//   - An error says which request it was of. Where the server answered, it wraps
//     an *errors.StatusError of k8s.io/apimachinery; IsNotFound means that the
//     server knows the kind and has no such object. No error holds a value of a
//     Secret.
package kube
