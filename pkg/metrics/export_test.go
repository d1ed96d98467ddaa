package metrics

import (
	"regexp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// Names are those of all metrics, also of those that have no series yet.
func (m *Metrics) Names() []string {
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		for _, c := range append(m.series.collectors(), nodeCollector{m}) {
			c.Describe(descriptions)
		}
	}()
	var names []string
	for d := range descriptions {
		names = append(names, regexp.MustCompile(`fqName: "(\w+)"`).FindStringSubmatch(d.String())[1])
	}
	slices.Sort(names)
	return names
}
