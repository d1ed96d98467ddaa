// Package historycmd is the use case of lynqctl history: it reads the runs of hubs.
//
// Options flow in, runs flow out. Package session writes histories. This package writes
// nothing.
package historycmd
