// Package command holds the commands of lynqctl, one file for each. Run carries out one
// command line in a given World, so that a program can run many of them, even in parallel.
//
// A World and a command line flow in. Output and an exit code flow out. Only Process uses
// the streams, the environment and the signals of the process. A command contains no
// decisions about a cluster: use cases do that.
package command
