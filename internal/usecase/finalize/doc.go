// Package finalize is the use case of lynqctl finalize: it completes deletions that other
// tools began.
package finalize
