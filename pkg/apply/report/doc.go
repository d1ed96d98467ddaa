// Package report has the events of a run, and the results of its nodes and steps.
//
// Plans and outcomes flow in. Events, a Result and its Summary flow out. The package reads
// and writes no object.
package report
