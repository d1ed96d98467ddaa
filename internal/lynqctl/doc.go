// Package lynqctl is the commands of lynqctl, one file for each. Run carries out one
// command line in a given World, so that a program can run many of them, also at the same
// time. Only Process uses the streams, the environment and the signals of the process.
package lynqctl
