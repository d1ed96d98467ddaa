// Package complete answers shells that complete a command line.
//
// An unfinished command line flows in, words flow out. The package knows the names of
// flags, and the arguments in Use. It never reports an error to the shell.
package complete
