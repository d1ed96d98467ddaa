// Package status is the use case of lynqctl status: lists of nodes, one node in full, and
// lists that are kept up to date.
package status
