// Package monitoring proves with Prometheus' own packages that the alerts and the dashboard
// in deploy/monitoring work on lynqctl's real metrics.
//
// Recorded metrics flow in, firing alerts and query results flow out. testdata/run.txt is a
// recorded run: what two instances of lynqctl watch answered to scrapes on a real control
// plane. Meanwhile rows, inputs and objects were broken and repaired, as record_test.go
// tells. Rules and queries see the run twenty times slower, so that minutes of alerts fit
// into seconds of a recording. Tests derive what can't be recorded in minutes, and say how.
//
// It is a module of its own, so that lynqctl gets none of its dependencies. It contains
// only tests.
package monitoring
