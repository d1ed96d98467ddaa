// Package window counts the nodes that runs deleted lately, as the record of a hub has them.
//
// A watch plans many small deletions, one after the other. The guard of --max-delete
// compares all deletions of a window of time with its limit. The package is pure.
package window
