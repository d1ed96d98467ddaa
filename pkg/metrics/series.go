package metrics

import "github.com/prometheus/client_golang/prometheus"

// series are all series except those of nodes. Names without the prefix lynqctl come from the
// Lynq operator.
type series struct {
	build *prometheus.GaugeVec

	inputs                        *prometheus.GaugeVec
	rows, active, readAt, leading *prometheus.GaugeVec
	backingOff, held, ranAt       *prometheus.GaugeVec
	tombstones                    *prometheus.GaugeVec

	reads, refusals, requests, fights, dropped *prometheus.CounterVec
	attempts, conflicts                        *prometheus.CounterVec

	reconciled, planned, ran *prometheus.HistogramVec
}

// The times of the last successes.
const (
	readAtName = "lynqctl_source_last_success_timestamp_seconds"
	ranAtName  = "lynqctl_run_last_success_timestamp_seconds"
)

// nodeBuckets are those of the operator and longer ones, because lynqctl waits for nodes.
func nodeBuckets() []float64 { return []float64{0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600} }

func planBuckets() []float64 { return []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60} }

func runBuckets() []float64 { return []float64{0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600} }

func newSeries(perNode bool) series {
	hub := []string{"hub", "namespace"}
	return series{
		build:  gauge("lynqctl_build_info", "The version of lynqctl, always 1.", "version"),
		inputs: gauge("lynqctl_inputs_last_load_successful", "1 if the last load of hubs and forms succeeded, 0 if it failed."),

		rows:    gauge("lynqctl_source_rows", "Rows in the last successful read of a hub's source.", hub...),
		active:  gauge("lynqctl_source_rows_active", "Active rows in the last successful read of a hub's source.", hub...),
		readAt:  gauge(readAtName, "Time of the last successful read of a hub's rows.", hub...),
		reads:   counter("lynqctl_source_reads_total", "Reads of a hub's source. The result is success or error.", "hub", "namespace", "result"),
		leading: gauge("lynqctl_leading", "1 if this process applies changes to the hub, 0 if it stands by.", hub...),

		planned:  histogram("lynqctl_plan_duration_seconds", "Time to plan a hub.", planBuckets(), hub...),
		ran:      histogram("lynqctl_run_duration_seconds", "Duration of a run on a hub, including the read of its rows. The result is success, error or interrupted.", runBuckets(), "hub", "namespace", "result"),
		ranAt:    gauge(ranAtName, "Time of the last successful run on a hub.", hub...),
		refusals: counter("lynqctl_refusals_total", "Runs that a guard refused. Hub and namespace are empty if no hub is concerned.", "hub", "namespace", "guard"),
		held:     gauge("lynqctl_held_deletions", "1 while a guard holds deletions of a hub.", "hub", "namespace", "guard"),

		backingOff: gauge("lynqctl_nodes_backing_off", "Failed nodes of a hub that wait for their next try.", hub...),
		fights:     counter("lynqctl_fights_total", "Times that watch paused on an object because another client kept changing it.", hub...),
		tombstones: gauge("lynqctl_tombstone_status", "State of the object that a tombstone names: 1 exists, 0 gone, -1 error, -2 skipped because of its labels.", "kind", "namespace", "name"),
		requests:   counter("lynqctl_api_requests_total", "Requests to the API server. The code is <error> if no answer came.", "verb", "code"),

		dropped: counter("lynqctl_log_lines_dropped_total", "Lines of the log that watch dropped because nobody read them."),

		reconciled: histogram("lynqnode_reconcile_duration_seconds", "Duration of a run for a node that had changes. The result is success or error.", nodeBuckets(), "result"),
		attempts:   counter("apply_attempts_total", "Writes of objects. The result is success or error.", "kind", "result", "conflict_policy"),
		conflicts:  counter("lynqnode_conflicts_total", "Conflicts with other owners of objects.", append(nodeLabels(perNode), "resource_kind", "conflict_policy")...),
	}
}

func (s *series) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		s.build, s.inputs, s.rows, s.active, s.readAt, s.reads, s.leading, s.planned, s.ran, s.ranAt, s.refusals, s.held,
		s.backingOff, s.fights, s.tombstones, s.requests, s.dropped, s.reconciled, s.attempts, s.conflicts,
	}
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}
