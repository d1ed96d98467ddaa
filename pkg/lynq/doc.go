// Package lynq is the vocabulary that every other package speaks: policies, rows,
// nodes, references to objects, and problems found in inputs.
//
// Plain data flows in and out. The package never reads, writes or decides
// anything about a cluster, a database or a file.
package lynq
