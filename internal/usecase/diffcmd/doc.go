// Package diffcmd is the use case of lynqctl diff: it shows what an apply would change.
//
// Options, files, rows and cluster state flow in. A report flows out, and on request a plan
// file. The package sends writes to the server as dry runs only.
package diffcmd
