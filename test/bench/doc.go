// Package bench measures how fast lynqctl renders and applies.
//
// Rows and a form flow in, times flow out. It compares rendering with the floor, a
// hand-written loop that writes the same bytes. It also compares it with the usual way:
// text/template and a YAML library. On a real cluster, it compares applying with a bare
// client and with kubectl. docs/performance.md says how to run it, and explains the
// figures. The package contains only tests, and no part of the program uses it.
package bench
