// Package finalize is the use case of lynqctl finalize: it completes deletions that other
// tools began.
//
// Inventories with our finalizer flow in, and deletions flow out through package delete.
// The package never touches a node whose inventory nobody deleted.
package finalize
