// Package report has what a run tells: its events while it goes, and how each node and
// step ended. It also finds which objects a run left unchanged although they aren't ready.
package report
