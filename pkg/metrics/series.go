package metrics

import "github.com/prometheus/client_golang/prometheus"

// series are all but those of nodes' records. Names without lynqctl before them are the
// Lynq operator's.
type series struct {
	build *prometheus.GaugeVec

	inputs                        *prometheus.GaugeVec
	rows, active, readAt, leading *prometheus.GaugeVec
	backingOff, held, ranAt       *prometheus.GaugeVec
	tombstones                    *prometheus.GaugeVec

	reads, refusals, requests, fights *prometheus.CounterVec
	attempts, conflicts               *prometheus.CounterVec

	reconciled, planned, ran *prometheus.HistogramVec
}

// When things last went well.
const (
	readAtName = "lynqctl_source_last_success_timestamp_seconds"
	ranAtName  = "lynqctl_run_last_success_timestamp_seconds"
)

// nodeBuckets are the operator's, and longer ones: lynqctl waits until a node is ready.
func nodeBuckets() []float64 { return []float64{0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600} }

func planBuckets() []float64 { return []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60} }

func runBuckets() []float64 { return []float64{0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600} }

func newSeries(perNode bool) series {
	hub := []string{"hub", "namespace"}
	return series{
		build:  gauge("lynqctl_build_info", "The version of lynqctl, always 1.", "version"),
		inputs: gauge("lynqctl_inputs_last_load_successful", "Whether hubs and forms could be loaded when that was last tried."),

		rows:    gauge("lynqctl_source_rows", "Rows that the last good read of a hub's source had.", hub...),
		active:  gauge("lynqctl_source_rows_active", "Active rows that the last good read of a hub's source had.", hub...),
		readAt:  gauge(readAtName, "When the rows of a hub were last read well.", hub...),
		reads:   counter("lynqctl_source_reads_total", "Reads of a hub's source; result is success or error.", "hub", "namespace", "result"),
		leading: gauge("lynqctl_leading", "Whether this process keeps the hub: 0 where it stands by.", hub...),

		planned:  histogram("lynqctl_plan_duration_seconds", "How long it took to plan a hub.", planBuckets(), hub...),
		ran:      histogram("lynqctl_run_duration_seconds", "How long a run on a hub took, with the reading of its rows; result is success, error or interrupted.", runBuckets(), "hub", "namespace", "result"),
		ranAt:    gauge(ranAtName, "When a run on a hub last ended well.", hub...),
		refusals: counter("lynqctl_refusals_total", "What guards refused; hub and namespace are empty where it is about none.", "hub", "namespace", "guard"),
		held:     gauge("lynqctl_held_deletions", "1 while a guard holds deletions of a hub.", "hub", "namespace", "guard"),

		backingOff: gauge("lynqctl_nodes_backing_off", "Nodes of a hub that wait before they are tried again.", hub...),
		fights:     counter("lynqctl_fights_total", "How often an object was left alone for a while that another client changes again and again.", hub...),
		tombstones: gauge("lynqctl_tombstone_status", "What became of the object that a tombstone names: 1 exists, 0 gone, -1 error, -2 skipped for its labels.", "kind", "namespace", "name"),
		requests:   counter("lynqctl_api_requests_total", "Requests to the API server; code is <error> where there was no answer.", "verb", "code"),

		reconciled: histogram("lynqnode_reconcile_duration_seconds", "How long a run took with a node that had something to do; result is success or error.", nodeBuckets(), "result"),
		attempts:   counter("apply_attempts_total", "Objects that were written; result is success or error.", "kind", "result", "conflict_policy"),
		conflicts:  counter("lynqnode_conflicts_total", "Objects that have another owner.", append(nodeLabels(perNode), "resource_kind", "conflict_policy")...),
	}
}

func (s *series) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		s.build, s.inputs, s.rows, s.active, s.readAt, s.reads, s.leading, s.planned, s.ran, s.ranAt, s.refusals, s.held,
		s.backingOff, s.fights, s.tombstones, s.requests, s.reconciled, s.attempts, s.conflicts,
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
