// Package e2e runs the scripts of testdata: the real lynqctl and the real
// kubectl on a real cluster, each script in a namespace of its own. They are
// written to be read; README.md in testdata lists what a script can use. It also
// runs the examples of the documentation that need a cluster.
package e2e
