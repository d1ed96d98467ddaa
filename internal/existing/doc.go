// Package existing makes forms for what a cluster has already: Helm releases and objects.
//
// The content of a release's Secret, or objects as the API server returns them, flow in. The
// text of a form flows out, with the files of a chart. The package trusts no release, because
// anybody who may write Secrets can write one. It reads and writes no file.
package existing
