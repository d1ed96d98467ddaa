package metrics_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/lynqctl/lynqctl/pkg/metrics"
)

// families are all metrics that there are: their types and labels.
func families(t *testing.T, perNode bool) map[string]string {
	t.Helper()
	m := newMetrics(t, metrics.Options{Version: "v1", PerNode: perNode})
	tell(m)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(strings.NewReader(exposed(t, m)))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for name, f := range all {
		labels := []string{}
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		slices.Sort(labels)
		found[name] = strings.ToLower(f.GetType().String()) + " " + strings.Join(labels, " ")
	}
	return found
}

// TestDocs: docs/metrics.md has every metric, with its type and labels, and no other.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	for perNode, node := range map[bool]string{false: "form hub namespace", true: "lynqnode namespace"} {
		said := map[string]string{}
		for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| ([^|]*)\\| (.*) \\|$").FindAllStringSubmatch(string(text), -1) {
			if !perNode && strings.HasPrefix(row[4], "with `--metrics-per-node` alone") {
				continue
			}
			labels := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(row[3], "`", ""), "NODE", node))
			slices.Sort(labels)
			said[row[1]] = row[2] + " " + strings.Join(labels, " ")
		}
		there := families(t, perNode)
		if got, want := slices.Sorted(maps.Keys(said)), slices.Sorted(maps.Keys(there)); !slices.Equal(got, want) {
			t.Errorf("docs/metrics.md has\n%q, and there are\n%q", got, want)
		}
		for name, is := range there {
			if said[name] != is {
				t.Errorf("%s: docs/metrics.md says %q, it is %q", name, said[name], is)
			}
		}
	}
}

// TestAllTold: the families above are all that a registry is asked for.
func TestAllTold(t *testing.T) {
	for _, perNode := range []bool{false, true} {
		m := newMetrics(t, metrics.Options{PerNode: perNode})
		told := families(t, perNode)
		for _, name := range m.Names() {
			if told[name] == "" {
				t.Errorf("%s has no series, though everything was told", name)
			}
		}
		if len(m.Names()) != len(told) {
			t.Errorf("there are %q, and series of %d", m.Names(), len(told))
		}
	}
}
