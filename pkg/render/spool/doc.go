// Package spool keeps what is rendered until somebody asks to write it.
//
// The bytes of nodes flow in, in memory up to a bound and beyond it in a temporary file
// that only its owner may read. Nodes can be taken back, and what is left flows out in
// order. The package does not know what the bytes mean.
package spool
