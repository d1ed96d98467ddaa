package apply

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// TestVersionOfNode checks the recorded version of a node, for each way in which a run of
// v2 leaves its objects.
func TestVersionOfNode(t *testing.T) {
	unwell := &plan.Node{Failed: manifest.ErrNoMetadata}
	step := func(recorded, wanted string) Step {
		s := newStep(&plan.Step{})
		if recorded != "-" {
			s.Record = &inventory.Entry{Digest: recorded}
		}
		if wanted != "-" {
			s.Object = &plan.Object{Digest: wanted}
		}
		return s
	}
	once := step("a", "b")
	once.Record.Creation = lynq.CreateOnce
	for name, tt := range map[string]struct {
		version string
		desired *plan.Node
		steps   []Step
		changed bool // the run records other data
		want    string
		written bool
		settled bool
	}{
		"the same, nothing new":            {"v2", &plan.Node{}, []Step{step("a", "a")}, false, "v2", false, true},
		"the same, all written":            {"v2", &plan.Node{}, []Step{step("a", "a")}, true, "v2", true, true},
		"the same, some not written":       {"v2", &plan.Node{}, []Step{step("a", "b")}, true, "v2", true, true},
		"another, nothing new":             {"v1", &plan.Node{}, []Step{step("a", "a")}, false, "v2", false, true},
		"another, all written":             {"v1", &plan.Node{}, []Step{step("a", "a"), step("b", "b")}, true, "v2", true, true},
		"another, some not written":        {"v1", &plan.Node{}, []Step{step("a", "a"), step("b", "c")}, false, "", true, false},
		"another, some never written":      {"v1", &plan.Node{}, []Step{step("", "c"), step("-", "c")}, false, "v2", false, true},
		"another, some left and did not":   {"v1", &plan.Node{}, []Step{step("a", "a"), step("b", "-")}, false, "", true, false},
		"another, some gone":               {"v1", &plan.Node{}, []Step{step("a", "a"), step("-", "-")}, false, "v2", false, true},
		"another, created once":            {"v1", &plan.Node{}, []Step{once}, false, "v2", false, true},
		"another, not rendered":            {"v1", unwell, nil, false, "", true, false},
		"another, going":                   {"v1", nil, []Step{step("a", "-")}, false, "", true, false},
		"unknown, nothing new":             {"", &plan.Node{}, []Step{step("a", "a")}, false, "v2", false, true},
		"unknown, all written":             {"", &plan.Node{}, []Step{step("a", "a")}, true, "v2", true, true},
		"unknown, some not written":        {"", &plan.Node{}, []Step{step("a", "b")}, false, "", false, true},
		"unknown, some not written, moved": {"", &plan.Node{}, []Step{step("a", "b")}, true, "", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &record{
				version: "v2", plan: &plan.NodePlan{Desired: tt.desired}, steps: &Steps{Of: tt.steps}, saved: &inventory.Inventory{Version: tt.version},
			}
			next := r.saved.Clone()
			if tt.changed {
				next.Activate = "false"
			}
			settled := r.settles()
			if written := r.differs(next); written != tt.written || next.Version != tt.want || settled != tt.settled {
				t.Errorf("version %q, written %t, settled %t; want %q, %t, %t", next.Version, written, settled, tt.want, tt.written, tt.settled)
			}
		})
	}
}
