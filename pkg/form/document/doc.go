// Package document reads YAML and JSON as kubectl reads them, and keeps for each value the line
// that it stands on.
//
// Parse takes the bytes of a stream and gives its documents as Values, with everything that is
// wrong. Bounds on depth and aliases keep a small file from becoming a large tree.
//
// The package knows no kinds: package form reads hubs and forms out of Values. Its messages
// name no value, which may be secret. Everything here is pure.
package document
