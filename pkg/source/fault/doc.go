// Package fault describes why rows can't be read, and how to fix that.
//
// It turns a place, a problem and its fix into an error. RowLimit refuses rows that are
// longer than any object. The package itself reads nothing else.
package fault
