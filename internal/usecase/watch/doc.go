// Package watch holds the use cases of lynqctl watch: applying again and again when rows,
// files or objects change, approving held deletions, and manifests that run it in a cluster.
package watch
