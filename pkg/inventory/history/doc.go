// Package history is the record of what runs did to a hub: its newest runs, with the objects
// that they changed and why.
//
// A ConfigMap beside the hub's record has an entry for each run, compressed, and few enough
// bytes in all. Nothing is decided by a history: whoever may write ConfigMaps may change one.
// The package has no IO. Package store loads and saves histories.
package history
