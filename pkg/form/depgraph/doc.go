// Package depgraph prints the dependencies between resources of forms, as a tree or for
// Mermaid and Graphviz.
//
// It takes loaded forms, and returns lines or text. The package reads no file and no
// cluster.
package depgraph
