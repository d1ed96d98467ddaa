// Package graph is the use case of lynqctl graph: the forms whose dependencies are shown.
package graph
