// Package diff is the use case of lynqctl diff: what an apply would change, found by the
// server's dry run.
package diff
