// Package validate is the use case of lynqctl validate: it checks inputs, and on request
// the rows too.
//
// Options, files and rows flow in, problems flow out. The package never asks a cluster to
// change anything.
package validate
