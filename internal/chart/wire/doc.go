// Package wire has the messages between lynqctl and its helper lynqctl-chart.
//
// lynqctl writes one Request as a line of JSON to the helper's standard input, and the helper
// answers each with one Response on its standard output, in any order. The package has the
// messages only. It starts no process, and reads no file.
package wire
