// Package buffer keeps rendered bytes, outside of the process's memory if they are many.
//
// A Buffer takes the bytes of nodes, and the caller writes them in order after it dropped
// some. Pages takes the bytes of manifests, and returns the same bytes for the caller to keep.
// Both use memory up to a limit, and then a temporary file that only its owner may read. The
// package doesn't interpret the bytes.
package buffer
