// Package depgraph writes which resources of forms depend on which: as a tree for people,
// and in the languages of Mermaid and Graphviz.
//
// Loaded forms flow in; lines of a tree, or text for another program, flow out. The
// package reads no file and asks no cluster.
package depgraph
