package monitoring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/util/teststorage"
)

// dashboard has the parts of a dashboard that the tests need.
type dashboard struct {
	Panels     []dashboardPanel `json:"panels"`
	Templating struct {
		List []struct{ Name, Type, Definition string }
	}
	SchemaVersion int `json:"schemaVersion"`
}

type dashboardPanel struct {
	ID          int
	Type        string
	Title       string
	Description string
	Datasource  datasource
	GridPos     struct{ X, Y, W, H int }
	FieldConfig struct {
		Defaults struct {
			Unit   string
			Min    *float64
			Custom struct {
				Stacking struct{ Mode string }
			}
		}
	}
	Targets []struct {
		Datasource   datasource
		Expr         string
		LegendFormat string
		RefID        string
	}
}

type datasource struct{ Type, UID string }

func readDashboard(t testing.TB) *dashboard {
	t.Helper()
	d := &dashboard{}
	if err := json.NewDecoder(bytes.NewReader([]byte(readFile(t, "deploy", "monitoring", "dashboard.json")))).Decode(d); err != nil {
		t.Fatal(err)
	}
	return d
}

// filled replaces Grafana's variables in an expression, for a selection of everything and a
// scrape each minute.
func filled(expression string) string {
	return strings.NewReplacer("$__rate_interval", "4m", "$hub", ".*", "$namespace", ".*").Replace(expression)
}

// TestDashboard wants every panel to query existing metrics, to show part of the recorded
// run, and to have its own place.
func TestDashboard(t *testing.T) {
	t.Parallel()
	d, r, known := readDashboard(t), readRun(t), known(t)
	store := play(t, r, nil)
	if d.SchemaVersion < 41 {
		t.Errorf("schemaVersion %d is older than Grafana 12", d.SchemaVersion)
	}
	ids, places := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d %q has an id that appears twice, or lacks a title, a description or queries", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := places[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("panel %q lies over %q, or beyond the border", p.Title, other)
				}
				places[[2]int{x, y}] = p.Title
			}
		}
		for _, target := range p.Targets {
			where := fmt.Sprintf("panel %q, query %s", p.Title, target.RefID)
			if want := (datasource{"prometheus", "${datasource}"}); p.Datasource != want || target.Datasource != want {
				t.Errorf("%s has not the data source that was chosen", where)
			}
			checkSelectors(t, where, filled(target.Expr), known)
			checkShown(t, r, store, where, target.Expr, target.LegendFormat)
		}
	}
}

// checkShown wants a query to have results in the recorded run, with the labels in its
// legend. No two results may have the same name.
func checkShown(t *testing.T, r *recording, store *teststorage.TestStorage, where, expression, legend string) {
	t.Helper()
	matrix := queryRun(t, r, store, expression)
	if len(matrix) == 0 {
		t.Errorf("%s shows nothing of the recorded run", where)
	}
	called := map[string]bool{}
	for _, s := range matrix {
		name := legendOf(legend, s)
		if called[name] || strings.Contains(name, "{{") || len(matrix) > 1 && name == "" {
			t.Errorf("%s: the legend %q is not that of one series alone", where, name)
		}
		called[name] = true
	}
}

// queryRun runs Grafana's query over the whole run, once a minute.
func queryRun(t testing.TB, r *recording, store *teststorage.TestStorage, expression string) promql.Matrix {
	t.Helper()
	q, err := newEngine().NewRangeQuery(t.Context(), store, nil, filled(expression), r.playedAt(0), r.playedAt(r.end()), time.Minute)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	result := q.Exec(t.Context())
	if result.Err != nil {
		t.Fatalf("%s: %v", expression, result.Err)
	}
	matrix, err := result.Matrix()
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return matrix
}

// legendOf returns Grafana's name for a series.
func legendOf(legend string, s promql.Series) string {
	return regexp.MustCompile(`\{\{(\w+)}}`).ReplaceAllStringFunc(legend, func(m string) string {
		if value := s.Metric.Get(strings.Trim(m, "{}")); value != "" {
			return value
		}
		return m
	})
}

// TestDashboardVariables wants the lists of choices to come from existing labels.
func TestDashboardVariables(t *testing.T) {
	t.Parallel()
	known, names := known(t), map[string]bool{}
	for _, v := range readDashboard(t).Templating.List {
		names[v.Name] = true
		if v.Type == "datasource" {
			continue
		}
		m := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`).FindStringSubmatch(v.Definition)
		if m == nil {
			t.Fatalf("variable %s is %q", v.Name, v.Definition)
		}
		checkSelectors(t, "variable "+v.Name, fmt.Sprintf("count by (%s) (%s)", m[2], filled(m[1])), known)
	}
	for _, name := range []string{"datasource", "namespace", "hub"} {
		if !names[name] {
			t.Errorf("there is no variable %s", name)
		}
	}
}
