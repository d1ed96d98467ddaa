// Package inventory holds the use cases of lynqctl inventory: list, show, verify, restore
// and rebuild.
//
// Restore and rebuild are one engine, recovery, which finds what was lost, shows it, and
// writes one inventory after the other. Each command fills in what it finds and how it
// writes that.
package inventory
