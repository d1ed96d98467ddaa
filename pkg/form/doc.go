// Package form reads LynqHubs and LynqForms: strictly, with file and line for
// everything that is wrong, all of it in one run.
//
// Package files reads the bytes that flow in, and package document makes values of their
// YAML or JSON. Hubs, forms with defaults filled in, their resources in dependency order, and
// problems flow out. The package never opens a source, renders a template or asks a cluster.
package form
