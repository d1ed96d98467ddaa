// Package history records the newest runs on a hub, with the objects that they changed and
// why.
//
// A ConfigMap beside the hub record has a compressed entry for each run. Its size is
// limited. lynqctl decides nothing from a history, because anybody who may write
// ConfigMaps can change it. The package does no IO. Package store loads and saves
// histories.
package history
