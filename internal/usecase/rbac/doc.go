// Package rbac is the use case of lynqctl rbac: the least rights for given inputs, and
// which of them a user lacks.
package rbac
