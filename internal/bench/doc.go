// Package bench measures how fast lynqctl renders, side by side with the floor
// (a hand-written loop that writes the same bytes) and with the usual way
// (text/template and a YAML library); and how fast it applies to a real cluster,
// side by side with a bare client and with kubectl. docs/performance.md says how
// to run it and what the figures mean; the package has nothing but tests.
package bench
