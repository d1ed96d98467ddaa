// Package serve answers a cluster and Prometheus about a running process: whether it lives,
// whether it is ready, and its metrics.
//
// A listener and handlers flow in, answers flow out. The package knows no hubs and counts
// nothing. It changes nothing, and answers only GET and HEAD.
package serve
