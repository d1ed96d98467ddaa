// Package form reads LynqHubs and LynqForms strictly, and reports all errors at once with
// file and line.
//
// Package files reads the bytes, and package document parses their YAML or JSON. This
// package returns hubs, forms with defaults, their resources in dependency order, and
// problems. It never opens a source, renders a template or calls a cluster.
package form
