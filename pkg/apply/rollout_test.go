package apply

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// tenant returns a node with a widget. broken says whether its controller gave up, and form
// is its template in the form.
func tenant(name, value, form string, broken bool) *plan.Node {
	o := widget(name)
	o.Policy.Unwaited = false
	o.Template, o.Content["spec"] = form, map[string]any{"value": value, "form": form}
	if broken {
		o = stuck(o)
	}
	return node(name, o)
}

// rolling returns a stage with a form that lets maxSkew nodes change at once.
func rolling(maxSkew int) *stage {
	s := newStage()
	s.options.Rollouts = map[schedule.Form]schedule.Limits{webOfCRM(): {MaxSkew: maxSkew, Deadline: time.Hour}}
	return s
}

// values returns the data of the tenants' objects, by name.
func (s *stage) values() string {
	var values []string
	for _, ref := range s.Sorted() {
		spec, _ := s.Objects[ref].Object["spec"].(map[string]any)
		values = append(values, fmt.Sprintf("%s=%v%v", ref.Name, spec["value"], spec["form"]))
	}
	return strings.Join(values, " ")
}

// ended returns the failed nodes of a summary.
func ended(sum *report.Summary) string {
	var nodes []string
	for _, n := range sum.Failed {
		nodes = append(nodes, n.Name+" "+string(n.Outcome))
	}
	slices.Sort(nodes)
	return strings.Join(nodes, ", ")
}

// TestRolloutBesideBroken checks that a broken node keeps its turn, and others continue
// until broken nodes have all turns. The next run doesn't spread a broken form.
func TestRolloutBesideBroken(t *testing.T) {
	s := rolling(2)
	all := func(form string, broken string) (nodes []*plan.Node) {
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			nodes = append(nodes, tenant(name, "1", form, strings.Contains(broken, name)))
		}
		return nodes
	}
	if sum := mustApply(t, s, all("x", "")...); len(sum.Failed) > 0 {
		t.Fatalf("failed: %+v", sum.Failed)
	}
	step := func(what, form, broken, wantEnded, wantValues string) {
		t.Helper()
		sum := mustApply(t, s, all(form, broken)...)
		if got := ended(sum); got != wantEnded {
			t.Errorf("%s: ended %q, want %q", what, got, wantEnded)
		}
		if got := s.values(); got != wantValues {
			t.Errorf("%s: %s, want %s", what, got, wantValues)
		}
	}
	step("one is broken", "y", "a", "a not-ready", "a=1y b=1y c=1y d=1y e=1y")
	step("two are", "z", "bd", "b not-ready, d not-ready, e skipped", "a=1z b=1z c=1z d=1z e=1y")
	step("the same once more", "z", "bd", "b not-ready, d not-ready, e skipped", "a=1z b=1z c=1z d=1z e=1y")
	// One of them becomes ready without a write.
	s.heal("b")
	step("one is well again", "z", "bd", "d not-ready", "a=1z b=1z c=1z d=1z e=1z")
}

// TestRolloutContinues checks that onFailure Continue goes on with the next nodes beside
// broken ones, and that the counts show the progress.
func TestRolloutContinues(t *testing.T) {
	s := rolling(1)
	all := func(form, broken string) (nodes []*plan.Node) {
		for _, name := range []string{"a", "b", "c"} {
			nodes = append(nodes, tenant(name, "1", form, strings.Contains(broken, name)))
		}
		return nodes
	}
	check := func(what string, sum *report.Summary, phase inventory.RolloutPhase, updated int, values string) {
		t.Helper()
		want := []inventory.Rollout{{Form: lynq.FormKey{Name: "web"}, Phase: phase, Updated: updated, Total: 3}}
		if got := sum.Rollouts[webOfCRM().Hub]; !slices.Equal(got, want) || s.values() != values {
			t.Errorf("%s: %+v with %s; want %+v with %s", what, got, s.values(), want, values)
		}
	}
	check("at first", mustApply(t, s, all("x", "")...), inventory.RolloutComplete, 3, "a=1x b=1x c=1x")
	check("stopped", mustApply(t, s, all("y", "a")...), inventory.RolloutStopped, 0, "a=1y b=1x c=1x")
	s.options.Rollouts = map[schedule.Form]schedule.Limits{webOfCRM(): {MaxSkew: 1, Continue: true, Deadline: time.Hour}}
	check("goes on", mustApply(t, s, all("y", "a")...), inventory.RolloutProgressing, 2, "a=1y b=1y c=1y")
	s.heal("a")
	check("in the end", mustApply(t, s, all("y", "a")...), inventory.RolloutComplete, 3, "a=1y b=1y c=1y")
}

// TestRolloutWithinStages checks that maxSkew limits the nodes of a stage, too: a broken
// node keeps its turn, although the stage may have failed nodes.
func TestRolloutWithinStages(t *testing.T) {
	for maxSkew, want := range map[int]string{
		1: "a not-ready, b skipped, c skipped, d skipped; a=1y b=1x c=1x d=1x",
		2: "a not-ready; a=1y b=1y c=1y d=1y",
	} {
		s := rolling(maxSkew)
		all := func(form, broken string) (nodes []*plan.Node) {
			for _, name := range []string{"a", "b", "c", "d"} {
				nodes = append(nodes, tenant(name, "1", form, strings.Contains(broken, name)))
			}
			return nodes
		}
		mustApply(t, s, all("x", "")...)
		staging := schedule.Staging{Stages: []schedule.Stage{{Stage: lynq.Stage{Rows: 2}}}, MaxFailed: 1, Of: map[lynq.NodeKey]int{}}
		for i, n := range all("y", "") {
			staging.Of[n.Key()] = i / 2
		}
		s.options.Rollouts = map[schedule.Form]schedule.Limits{webOfCRM(): {MaxSkew: maxSkew, Deadline: time.Hour, Staging: staging}}
		if got := ended(mustApply(t, s, all("y", "a")...)) + "; " + s.values(); got != want {
			t.Errorf("maxSkew %d: %s, want %s", maxSkew, got, want)
		}
	}
}

// TestRolloutBesideOthers checks that a stopped rollout doesn't affect new tenants and
// changes of rows, even if some of them break.
func TestRolloutBesideOthers(t *testing.T) {
	s := rolling(1)
	mustApply(t, s, tenant("a", "1", "x", false), tenant("b", "1", "x", false))
	next := []*plan.Node{tenant("a", "1", "y", true), tenant("b", "1", "y", false), tenant("c", "1", "y", true), tenant("d", "1", "y", false)}
	if got := ended(mustApply(t, s, next...)); got != "a not-ready, b skipped, c not-ready" || s.values() != "a=1y b=1x c=1y d=1y" {
		t.Errorf("beside a broken node: ended %q with %s", got, s.values())
	}
	s.heal("a")
	if got := ended(mustApply(t, s, next[0], tenant("b", "1", "y", false), tenant("c", "2", "y", true), tenant("d", "2", "y", false))); got != "c not-ready" || s.values() != "a=1y b=1y c=2y d=2y" {
		t.Errorf("beside a broken row: ended %q with %s", got, s.values())
	}
}

// TestRolloutOfANewForm checks that all nodes of a form form one rollout while none of them
// has been ready. So a broken form doesn't reach all of them.
func TestRolloutOfANewForm(t *testing.T) {
	s := rolling(1)
	nodes := []*plan.Node{tenant("a", "1", "x", true), tenant("b", "1", "x", false)}
	for range 2 {
		if got := ended(mustApply(t, s, nodes...)); got != "a not-ready, b skipped" || s.values() != "a=1x" {
			t.Errorf("ended %q with %s", got, s.values())
		}
	}
}

// heal makes the controller of a tenant's object succeed.
func (s *stage) heal(name string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	ref := lynq.Ref{Group: "example.com", Kind: "Widget", Namespace: "ns", Name: name}
	o := s.Objects[ref].DeepCopy()
	delete(o.Object, "status")
	s.put(ref, o)
}

// TestRolloutOfUnchangedNodes checks that nodes without writes neither stop nor slow the
// rollout of others, broken or not.
func TestRolloutOfUnchangedNodes(t *testing.T) {
	s := rolling(1)
	nodes := func(value string, more ...*plan.Node) []*plan.Node {
		return append([]*plan.Node{tenant("a", "1", "x", true), tenant("b", value, "x", false)}, more...)
	}
	s.options.Rollouts = nil
	mustApply(t, s, nodes("1")...)
	s.options.Rollouts = rolling(1).options.Rollouts
	sum := mustApply(t, s, nodes("2", tenant("c", "1", "x", false))...)
	if got := ended(sum); got != "a not-ready" || s.values() != "a=1x b=2x c=1x" {
		t.Errorf("ended %q with %s", got, s.values())
	}
	// A run that doesn't wait doesn't check them.
	s.options.Wait = false
	sum = mustApply(t, s, nodes("3", tenant("c", "1", "x", false))...)
	if got := ended(sum); got != "" || s.values() != "a=1x b=3x c=1x" {
		t.Errorf("without waiting: ended %q with %s", got, s.values())
	}
}

// TestRolloutPaused checks two nodes that wait for each other's turn. One gives up its
// turn, and continues even if the other has broken.
func TestRolloutPaused(t *testing.T) {
	s := rolling(1)
	inTeam := configMap("in-team", "1")
	inTeam.Namespace, inTeam.Content["metadata"] = "team", map[string]any{"name": "in-team", "namespace": "team"}
	sum := mustApply(t, s, node("a", inTeam), node("b", namespace("team"), stuck(widget("w"))))
	if got := ended(sum); got != "b not-ready" || s.Objects[inTeam.Ref] == nil {
		t.Errorf("ended %q", got)
	}
}

// webOfCRM returns the form of most plans in tests.
func webOfCRM() schedule.Form {
	return schedule.Form{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}}
}
