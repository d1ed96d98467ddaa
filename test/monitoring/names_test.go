package monitoring

import (
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// parsed parses a series in the text format. Its name becomes the label __name__.
func parsed(t testing.TB, series string) labels.Labels {
	t.Helper()
	l, err := parser.NewParser(parser.Options{}).ParseMetric(series)
	if err != nil {
		t.Fatalf("%s: %v", series, err)
	}
	return l
}

// labelNames returns the metrics of a recording with their labels. The label "" stands for
// the metric itself.
func labelNames(t testing.TB, r *recording) map[string]map[string]bool {
	t.Helper()
	names := map[string]map[string]bool{}
	seen := map[string]bool{}
	for _, s := range r.scrapes {
		for series := range s.series {
			if !seen[series] {
				seen[series] = true
				addLabelNames(names, parsed(t, series))
			}
		}
	}
	return names
}

func addLabelNames(names map[string]map[string]bool, l labels.Labels) {
	of := names[l.Get(model.MetricNameLabel)]
	if of == nil {
		of = map[string]bool{"": true}
		names[l.Get(model.MetricNameLabel)] = of
	}
	l.Range(func(one labels.Label) {
		if one.Name != model.MetricNameLabel {
			of[one.Name] = true
		}
	})
}
