// Package history reads what the histories of hubs have of their runs. Package session writes
// them.
package history
