// Package rbac finds the least rights under which commands work for given forms.
//
// Needs says what each use of lynqctl needs of each entry of a form, and of the records
// that lynqctl keeps; Of gathers that into rules, in a namespace where it is known, and
// Manifests makes roles of them. Nothing here asks a cluster.
package rbac
