// Package naming makes the names of nodes, and checks names and label values as
// Kubernetes does.
//
// Texts flow in; names and answers flow out. The package never knows what a name is
// given to.
package naming
