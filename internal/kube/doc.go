// Package kube is lynqctl's side of the Kubernetes API. It implements the small interfaces
// of other packages with client-go.
//
// Access selects the cluster, like kubectl's flags and kubeconfigs. Client sends requests
// to it. It is apply's Cluster, and with ConfigMaps and Leases the store of inventories.
// Requests flow in, objects and errors flow out. The package decides nothing.
//
// It uses client-go's RESTClient, pager and Reflector. client-go's other clients would cost
// more than they save:
//
//   - discovery and the typed clients register all built-in kinds. That costs 4.4 ms and
//     650 KB at every start, which takes 5 ms in all.
//   - dynamic reads objects as JSON. 500 objects take 20 ms and 2.4 MB, but their metadata
//     as protobuf takes 4 ms and 1.1 MB.
//   - metadata can neither create nor update.
//   - None of them can switch off its own retries, so a server in trouble would get up to
//     ten times as many requests.
//
// All methods of Client have this in common:
//
//   - The package retries failures that may pass, and nothing else does: server errors,
//     answers that say "later", and broken connections. Seven tries take about 20 seconds.
//     If the server's answer gets lost, the next try may find its own effect.
//   - Only the server limits the rate of requests.
//   - A list is complete or an error, and shows one moment.
//   - Requests ask for answers in protobuf. Of objects that apply writes, they ask only for
//     the metadata.
//   - An error names its request. If the server answered, it wraps an *errors.StatusError
//     of k8s.io/apimachinery. IsNotFound means that the server knows the kind and has no
//     such object. No error contains a value of a Secret.
package kube
