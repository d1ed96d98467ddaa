// Package cli is how command lines behave, whatever the command: a word or flag that is
// unknown is refused, with what was meant perhaps; flags that are not given have their
// values from the environment; help has one form; and kubectl's plugin calls itself as
// people call it.
//
// Commands of cobra flow in, and behave so from then on. What a command does is its own.
package cli
