// Package serve answers what a cluster and Prometheus ask of a process that goes on: whether
// it lives, whether it is ready, and its metrics.
//
// A listener and handlers flow in, answers flow out. The package knows nothing of what is
// kept or counted, changes nothing, and answers nothing but GET and HEAD.
package serve
