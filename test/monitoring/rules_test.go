package monitoring

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// known returns every recorded metric with its labels, including those of a target.
func known(t testing.TB) map[string]map[string]bool {
	t.Helper()
	names := labelNames(t, readRun(t))
	for s := range readFileSeries(t) {
		addLabelNames(names, parsed(t, s))
	}
	for _, of := range names {
		of["job"], of["instance"] = true, true
	}
	return names
}

// readFileSeries reads the file of a run with --metrics-per-node.
func readFileSeries(t testing.TB) map[string]string {
	t.Helper()
	text, err := os.ReadFile(perNode)
	if err != nil {
		t.Fatal(err)
	}
	series, err := parseScrape(text)
	if err != nil {
		t.Fatal(err)
	}
	return series
}

// checkSelectors wants an expression to use only lynqctl's metrics and their labels.
func checkSelectors(t *testing.T, where, expression string, known map[string]map[string]bool) {
	t.Helper()
	parsed, err := newParser().ParseExpr(expression)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			for _, m := range n.LabelMatchers {
				if m.Name != model.MetricNameLabel && !known[n.Name][m.Name] || known[n.Name] == nil {
					t.Errorf("%s: %s: lynqctl has no such metric, or not with label %s", where, n, m.Name)
				}
			}
		case *parser.AggregateExpr:
			for _, label := range n.Grouping {
				if of := labelsBelow(n.Expr, known); !of[label] {
					t.Errorf("%s: %s: there is no label %s", where, n, label)
				}
			}
		}
		return nil
	})
}

// labelsBelow returns the labels of all metrics in an expression.
func labelsBelow(e parser.Node, known map[string]map[string]bool) map[string]bool {
	all := map[string]bool{}
	parser.Inspect(e, func(node parser.Node, _ []parser.Node) error {
		if n, is := node.(*parser.VectorSelector); is {
			for label := range known[n.Name] {
				all[label] = true
			}
		}
		return nil
	})
	return all
}

// TestRules wants each alert to query existing metrics, to have its texts, and to have an
// entry in the runbook.
func TestRules(t *testing.T) {
	t.Parallel()
	const page = "https://github.com/lynqctl/lynqctl/blob/main/docs/runbook.md#"
	known, headings := known(t), map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (\w+)$`).FindAllStringSubmatch(readFile(t, "docs", "runbook.md"), -1) {
		headings[strings.ToLower(heading[1])] = true
	}
	for name, rule := range alertRules(t) {
		checkSelectors(t, name, rule.Expr, known)
		if rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
			t.Errorf("%s lacks a severity, a summary or a description", name)
		}
		if rule.Annotations["runbook_url"] != page+strings.ToLower(name) || !headings[strings.ToLower(name)] {
			t.Errorf("%s has runbook %s, which docs/runbook.md lacks, or which is not of its name", name, rule.Annotations["runbook_url"])
		}
	}
	for heading := range headings {
		if regexp.MustCompile(`^(lynq|hub|highapply)\w`).MatchString(heading) && !regexp.MustCompile(`(?i)alert: `+heading+`\n`).MatchString(readFile(t, "deploy", "monitoring", "alerts.yaml")) {
			t.Errorf("docs/runbook.md has an entry for %s, and there is no such alert", heading)
		}
	}
}

// TestPrometheusRule wants the object for the Prometheus operator to equal the rules file.
func TestPrometheusRule(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`# Made of alerts.yaml beside it by TestPrometheusRule: change that.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: lynqctl
  labels: {app.kubernetes.io/name: lynqctl}
spec:
`)
	_, groups, found := strings.Cut(readFile(t, "deploy", "monitoring", "alerts.yaml"), "\ngroups:\n")
	if !found {
		t.Fatal("alerts.yaml has no groups")
	}
	for line := range strings.Lines("groups:\n" + groups) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	sameFile(t, b.String(), "deploy", "monitoring", "prometheusrule.yaml")
}

// sameFile compares a file of the source tree with its generated content, or writes it.
func sameFile(t *testing.T, want string, path ...string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join(append([]string{root}, path...)...), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := readFile(t, path...); got != want {
		t.Errorf("%s is out of date: go -C test/monitoring test . -run '^%s$' -update", filepath.Join(path...), t.Name())
	}
}

func readFile(t testing.TB, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
