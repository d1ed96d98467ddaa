// Package report has the events of a run, and the results of its nodes and steps. It also
// finds unchanged objects that aren't ready.
//
// Plans and outcomes flow in. Events, a Result and its Summary flow out. The package reads
// objects, and never writes one.
package report
