// Package cmdflags holds the flags and arguments that several commands share. It registers
// them, checks them, and turns them into options. A command adds its own flags.
//
// Texts from the command line flow in, options of use cases flow out. The package never
// asks a cluster, and never prints anything.
package cmdflags
