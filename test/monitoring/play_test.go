package monitoring

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/teststorage"
)

// slower is the factor by which tests play the run slower. The scrapes are 3 seconds apart,
// so one comes each minute. Timestamps in values shift accordingly, and other values stay.
const slower = 20

// sample is one value of a recording. A test may change it to derive an input that takes
// hours, or luck, to record.
type sample struct {
	phase  string
	labels map[string]string
	value  float64
}

// name returns the name of the metric.
func (s *sample) name() string { return s.labels[model.MetricNameLabel] }

// playedAt returns the time of an event in the played recording.
func (r *recording) playedAt(at time.Duration) time.Time { return r.began.Add(slower * at) }

// play puts a recording into Prometheus' storage, like scrapes: a series that disappears is
// stale. derive may change each sample, and may be nil.
func play(t testing.TB, r *recording, derive func(*sample)) *teststorage.TestStorage {
	t.Helper()
	store := teststorage.New(t)
	app := store.Appender(t.Context())
	last := map[string]map[string]string{}
	for _, s := range r.scrapes {
		at := r.playedAt(s.at).UnixMilli()
		for _, series := range slices.Sorted(maps.Keys(s.series)) {
			l, v := r.played(t, &s, series, derive)
			if _, err := app.Append(0, l, at, v); err != nil {
				t.Fatalf("%s: %v", l, err)
			}
		}
		for series := range last[s.instance] {
			if _, there := s.series[series]; !there {
				gone := s
				gone.series, gone.phase = last[s.instance], ""
				l, _ := r.played(t, &gone, series, derive)
				if _, err := app.Append(0, l, at, math.Float64frombits(value.StaleNaN)); err != nil {
					t.Fatalf("%s: %v", l, err)
				}
			}
		}
		last[s.instance] = s.series
	}
	if err := app.Commit(); err != nil {
		t.Fatal(err)
	}
	return store
}

// played returns one series of a scrape with the labels of its target, and its value.
func (r *recording) played(t testing.TB, s *scrape, series string, derive func(*sample)) (labels.Labels, float64) {
	t.Helper()
	v, err := strconv.ParseFloat(s.series[series], 64)
	if err != nil {
		t.Fatalf("%s: %v", series, err)
	}
	one := sample{s.phase, parsed(t, series).Map(), v}
	if strings.HasSuffix(one.name(), "_timestamp_seconds") {
		began := float64(r.began.UnixMilli()) / 1000
		one.value = began + slower*(v-began)
	}
	if derive != nil {
		derive(&one)
	}
	one.labels["job"], one.labels["instance"] = "lynqctl", s.instance
	return labels.FromMap(one.labels), one.value
}

func newEngine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, EnableAtModifier: true, EnableNegativeOffset: true, Parser: newParser()})
}

func newParser() parser.Parser { return parser.NewParser(parser.Options{}) }
