// Package monitoring proves with Prometheus' own packages that the alerts and the dashboard
// in deploy/monitoring work on the metrics that lynqctl really has.
//
// testdata/run.txt is a recorded run: what two instances of lynqctl watch answered to scrapes
// on a real control plane, while rows, inputs and objects were broken and repaired (record_test.go
// tells the story). Rules and queries see it played twenty times slower, so that minutes of
// alerts fit into seconds of a recording. What cannot be recorded in minutes is derived from it,
// and each test says how.
//
// The module is apart from lynqctl's own, so that none of its dependencies
// reaches the product. It has no code but tests.
package monitoring
