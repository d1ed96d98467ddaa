// Package explain is the use case of lynqctl explain: it describes a field of hubs and
// forms, with the texts that editors show, too.
//
// A path flows in, and a field with those below it flows out. The package does no IO.
package explain
