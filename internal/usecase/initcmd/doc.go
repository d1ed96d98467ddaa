// Package initcmd is the use case of lynqctl init: it drafts the first hub and form for a
// table.
//
// The address of a table and some of its rows flow in. New files and notes flow out. The
// package never overwrites a file.
package initcmd
