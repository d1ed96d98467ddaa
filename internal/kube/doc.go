// Package kube is lynqctl's side of the Kubernetes API: it implements with
// client-go what other packages declare as small interfaces.
//
// Access says which cluster is meant, as kubectl's flags and kubeconfigs do.
// Client talks to it: it is apply's Cluster, and with ConfigMaps and Leases the
// store of inventories. The package decides nothing.
//
// It is built on client-go's RESTClient, pager and Reflector. Its other clients would
// cost more than they save:
//
//   - discovery and the typed clients register all built-in kinds: 4.4 ms and 650 KB
//     at every start, which takes 5 ms in all.
//   - dynamic reads objects as JSON: 20 ms and 2.4 MB for 500 objects of which the
//     metadata as protobuf takes 4 ms and 1.1 MB.
//   - metadata can neither create nor update.
//   - None of them can be told not to try requests again in its own way, so that a
//     server in trouble would be sent up to ten times as many.
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
