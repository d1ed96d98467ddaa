// Package orphans holds the use cases of lynqctl orphans: list, adopt and prune.
package orphans
