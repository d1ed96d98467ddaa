// Package naming makes the names of nodes, and checks names and label values as Kubernetes
// does.
//
// Texts flow in, names and answers flow out. The package doesn't know which object gets a
// name.
package naming
