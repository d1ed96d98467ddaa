// Package explain is the use case of lynqctl explain: it describes a field of hubs and
// forms, from the JSON schemas that editors use.
//
// A path flows in, and a field with those below it flows out. The package does no IO.
package explain
