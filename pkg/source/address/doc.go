// Package address reads the texts with which people say where rows are: the values of
// --source.
//
// A text and what a hub says flow in; a connection flows out. The package opens nothing, and
// never repeats a text that may hold a password.
package address
