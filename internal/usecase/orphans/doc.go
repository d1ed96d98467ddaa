// Package orphans holds the use cases of lynqctl orphans: list, adopt and prune.
//
// Options flow in. Lists of orphans flow out, and adopt and prune change or delete them
// through other packages. The package never deletes an object that isn't an orphan.
package orphans
