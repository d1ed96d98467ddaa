// Package rbac finds the least permissions with which commands work for given forms.
//
// needs says what each use of lynqctl needs for an entry of a form, and for lynqctl's records.
// Of gathers rules from that, in a namespace if it is known. Manifests makes roles of rules.
// Forms and hubs flow in, rules and YAML flow out. The package asks no cluster.
package rbac
