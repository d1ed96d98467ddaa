// Package document reads YAML and JSON as kubectl does, and keeps the line of each value.
//
// Parse turns the bytes of a stream into documents, and returns all problems. Limits on
// depth and aliases prevent a small file from becoming a large tree.
//
// The package knows no kinds. Package form reads hubs and forms from its values. Messages
// contain no values, because these may be secret. All functions are pure.
package document
