// Package floor is the hand-written program that benchmarks compare lynqctl with.
//
// Rows flow in. The bytes that lynqctl renders for the benchmark's form flow out. The
// package contains that form as code. It never quotes values, finds duplicates or reports
// bad rows, so it is useless for anything else.
package floor
