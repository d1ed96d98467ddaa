package apply

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
)

// fleet returns tenants a, b, ..., and breaks some of them.
func fleet(count int, value, form, broken string) (nodes []*plan.Node) {
	for i := range count {
		name := string(rune('a' + i))
		nodes = append(nodes, tenant(name, value, form, strings.Contains(broken, name)))
	}
	return nodes
}

// TestBrake checks that a run without a rollout stops if its first ten nodes fail for one
// cause. The next run doesn't reach more of them. A ready node, other causes and few nodes
// stop nothing.
func TestBrake(t *testing.T) {
	for _, tt := range []struct {
		name    string
		count   int
		broken  string
		reached int // of the nodes
		limits  schedule.Limits
	}{
		{"all are broken", 14, "abcdefghijklmn", 10, schedule.Limits{}},
		{"the last of ten is ready", 14, "abcdefghiklmn", 14, schedule.Limits{}},
		{"the first ten are broken", 14, "abcdefghij", 10, schedule.Limits{}},
		{"ten nodes in all", 10, "abcdefghij", 10, schedule.Limits{}},
		{"onFailure: Continue", 14, "abcdefghijklmn", 14, schedule.Limits{Continue: true}},
		{"a rollout", 14, "abcdefghijklmn", 12, schedule.Limits{MaxSkew: 12}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage()
			s.options.Rollouts = map[schedule.Form]schedule.Limits{webOfCRM(): tt.limits}
			mustApply(t, s, fleet(tt.count, "1", "x", "")...)
			for run := range 2 {
				sum := mustApply(t, s, fleet(tt.count, "1", "y", tt.broken)...)
				if got := strings.Count(s.values(), "=1y"); got != tt.reached {
					t.Errorf("run %d: %d nodes changed, want %d", run, got, tt.reached)
				}
				if got := sum.Nodes[report.OutcomeSkipped]; got != tt.count-tt.reached {
					t.Errorf("run %d: %d nodes skipped", run, got)
				}
			}
		})
	}
}

// TestBrakeOfRows checks that broken nodes of earlier runs don't keep rows from changing,
// and that the message names the cause and what to do.
func TestBrakeOfRows(t *testing.T) {
	s := newStage()
	const first = "abcdefghij"
	healthy := fleet(24, "1", "x", "")
	mustApply(t, s, healthy...)
	mustApply(t, s, append(fleet(10, "2", "x", first), healthy[10:]...)...)
	nodes := fleet(24, "2", "x", first)
	if sum := mustApply(t, s, nodes...); strings.Count(s.values(), "=2x") != 24 {
		t.Errorf("%d nodes changed: %s", strings.Count(s.values(), "=2x"), ended(sum))
	}
	sum := mustApply(t, s, fleet(24, "3", "x", "abcdefghijklmnopqrstuvwx")...)
	var why string
	for _, n := range sum.Failed {
		if n.Outcome == report.OutcomeSkipped {
			why = n.Problems[0].Problem()
		}
	}
	for _, part := range []string{"form web stopped", "10 nodes failed for one cause", "no chart", "onFailure: Continue"} {
		t.Run(part, func(t *testing.T) {
			if !strings.Contains(why, part) {
				t.Errorf("%q lacks %q", why, part)
			}
		})
	}
}

// TestBrakeOfCauses checks that nodes with different causes stop nothing.
func TestBrakeOfCauses(t *testing.T) {
	s := newStage()
	mustApply(t, s, fleet(14, "1", "x", "")...)
	var nodes []*plan.Node
	for i := range 14 {
		o := stuck(widget(string(rune('a' + i))))
		o.Template, o.Content["spec"] = "y", map[string]any{"value": "1", "form": "y"}
		o.Content["status"] = map[string]any{"conditions": []any{
			map[string]any{"type": "Stalled", "status": "True", "reason": "Bad", "message": []string{"no chart", "no quota"}[i%2]},
		}}
		nodes = append(nodes, node(o.Name, o))
	}
	mustApply(t, s, nodes...)
	if got := strings.Count(s.values(), "=1y"); got != 14 {
		t.Errorf("%d nodes changed", got)
	}
}
