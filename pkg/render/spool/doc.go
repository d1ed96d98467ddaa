// Package spool stores rendered bytes until the caller writes them.
//
// It takes the bytes of nodes. It stores them in memory up to a limit, and then in a
// temporary file that only its owner may read. The caller can drop nodes, and then writes
// the rest in order. The package doesn't interpret the bytes.
package spool
