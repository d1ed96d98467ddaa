// Package address parses the values of --source, which say where rows are.
//
// It takes a text and the hub's connection, and returns a connection. The package opens
// nothing, and never repeats a text that may contain a password.
package address
