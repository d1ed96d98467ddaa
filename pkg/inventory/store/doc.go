// Package store loads and saves inventories and hub records, through a small interface to
// ConfigMaps.
//
// Each write requires the version that lynqctl read, so it never overwrites another
// client's change. After a lost answer, it recognizes its own write. It deletes an
// inventory or record through its finalizer, and restores one from its copy after a manual
// deletion. The package never touches the recorded objects, and doesn't decide about them.
package store
