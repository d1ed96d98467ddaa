// Package lynq has the types that every other package uses: policies, rows, nodes,
// references to objects, and problems of inputs.
//
// Plain data flows in and out. The package never reads, writes or decides
// anything about a cluster, a database or a file.
package lynq
