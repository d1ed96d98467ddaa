// Package wait tells how far objects are that a run waits for, from watches that all
// nodes of the run share. It writes nothing.
package wait
