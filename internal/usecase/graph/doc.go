// Package graph is the use case of lynqctl graph: it loads the forms whose dependencies the
// command shows.
//
// Options and files flow in, forms flow out. The package reads neither rows nor a cluster.
package graph
