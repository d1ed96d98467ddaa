package metrics

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Options say which series Metrics has.
type Options struct {
	// PerNode is set if each node has series of its own, instead of sums by hub and form.
	PerNode bool
	// Process adds series of Go and the operating system about this process.
	Process bool
	// Version is the version of lynqctl.
	Version string
}

// Metrics counts. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	perNode  bool
	series   series

	mu sync.Mutex
	// began has the start of each node that a run works on.
	began map[lynq.NodeKey]time.Time
	nodes nodes
	// tombstones are the objects that the tombstones of each hub name.
	tombstones map[lynq.HubKey][]lynq.Ref
	held       map[lynq.HubKey][]plan.Guard
	kept       *[]lynq.HubKey // see Kept, nil before the first call
}

// New returns Metrics without any count.
func New(o Options) (*Metrics, error) {
	m := &Metrics{
		registry: prometheus.NewRegistry(), perNode: o.PerNode, series: newSeries(o.PerNode),
		began: map[lynq.NodeKey]time.Time{}, nodes: nodes{}, tombstones: map[lynq.HubKey][]lynq.Ref{}, held: map[lynq.HubKey][]plan.Guard{},
	}
	all := append(m.series.collectors(), nodeCollector{m})
	if o.Process {
		all = append(all, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	var errs []error
	for _, c := range all {
		errs = append(errs, m.registry.Register(c))
	}
	set(m.series.build, 1, o.Version)
	return m, errors.Join(errs...)
}

// Handler answers Prometheus with all series.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// label returns a text as the value of a label, which must be valid UTF-8.
func label(text string) string { return strings.ToValidUTF8(text, string(utf8.RuneError)) }

func labels(texts []string) []string {
	for i := range texts {
		texts[i] = label(texts[i])
	}
	return texts
}

// set, count, add and observe do nothing if there aren't as many values as labels, which TestAll
// would show.
func set(g *prometheus.GaugeVec, value float64, values ...string) {
	if s, err := g.GetMetricWithLabelValues(labels(values)...); err == nil {
		s.Set(value)
	}
}

func count(c *prometheus.CounterVec, values ...string) { add(c, 1, values...) }

func add(c *prometheus.CounterVec, n float64, values ...string) {
	if s, err := c.GetMetricWithLabelValues(labels(values)...); err == nil {
		s.Add(n)
	}
}

func observe(h *prometheus.HistogramVec, d time.Duration, values ...string) {
	if s, err := h.GetMetricWithLabelValues(labels(values)...); err == nil {
		s.Observe(d.Seconds())
	}
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
