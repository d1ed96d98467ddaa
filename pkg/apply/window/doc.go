// Package window counts the nodes that recent runs deleted, from the hub record.
//
// A watch plans many small deletions, one after the other. The guard of --max-delete
// compares all deletions in a window of time with its limit. Deletions and nodes flow in,
// and counts and the next hub record flow out. The package is pure. It never refuses a run
// itself.
package window
