// Package floor writes, with hand-written code, the bytes that lynqctl renders
// for the benchmark's form and rows. It knows the form by heart, trusts the
// values to need no quotes, finds no duplicates and reports no bad row: it is
// what the benchmarks measure against, and nothing to be used.
package floor
