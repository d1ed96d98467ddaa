// Package watchcli holds the command watch and those below it. It has their flags, the log
// and the table, and the signals that make watch read its files again.
//
// A console and flags flow in. A log, a table and metrics flow out. The package never
// decides what to apply.
package watchcli
