// Package rbaccmd is the use case of lynqctl rbac: it computes the least permissions for given
// inputs, and those that a user lacks.
//
// Options, files and kinds flow in, rules flow out. The package never changes permissions
// in a cluster.
package rbaccmd
