// Package e2e runs the scripts of testdata: the real lynqctl and the real kubectl on a real
// cluster, each script in its own namespace.
//
// Scripts and pages flow in, failures flow out. README.md in testdata lists the commands of
// scripts. The package also runs the examples of the documentation that need a cluster. It
// contains only tests.
package e2e
