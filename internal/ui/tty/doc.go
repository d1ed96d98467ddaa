// Package tty has the streams that people read, and the text that is written to them.
//
// A Stream knows whether it is a terminal, how wide it is, and whether it has colours.
// Text that comes from rows or from the cluster never reaches a terminal as it is: Safe and
// the streams escape whatever does not print. Paint colours text, Flow and Cut fit it to
// the width of a terminal. Confirm asks a person who is at one.
package tty
