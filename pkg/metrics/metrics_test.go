package metrics_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/metrics"
)

var (
	_ session.Metrics = (*metrics.Metrics)(nil)

	crm  = lynq.HubKey{Namespace: "shop", Name: "crm"}
	web  = lynq.FormKey{Namespace: "shop", Name: "web"}
	acme = lynq.NodeKey{Namespace: "shop", Name: "acme-web"}
	ends = lynq.NodeKey{Namespace: "shop", Name: "old-web"}
	noon = time.Date(2026, 3, 1, 12, 0, 0, 500_000_000, time.UTC)
)

func newMetrics(t *testing.T, o metrics.Options) *metrics.Metrics {
	t.Helper()
	m, err := metrics.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// exposed is what Prometheus is answered.
func exposed(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// has checks lines of what is exposed: those that are there, and after a "!" beginnings of
// those that are not.
func has(t *testing.T, m *metrics.Metrics, lines ...string) {
	t.Helper()
	text := exposed(t, m)
	for _, line := range lines {
		if not, is := strings.CutPrefix(line, "!"); is {
			if strings.Contains("\n"+text, "\n"+not) {
				t.Errorf("there is %s in\n%s", not, text)
			}
		} else if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("there is no %s in\n%s", line, text)
		}
	}
}

// idOf is the node of form web that has this key.
func idOf(hub lynq.HubKey, key lynq.NodeKey) lynq.NodeID {
	return lynq.NodeID{Hub: hub, Form: web, Namespace: key.Namespace, Name: key.Name}
}

func recorded(key lynq.NodeKey, s inventory.Status) *inventory.Inventory {
	return &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: crm.Namespace, Name: crm.Name}, Form: lynq.FormKey{Namespace: web.Namespace, Name: web.Name}, Namespace: key.Namespace, Name: key.Name}, Status: s}
}

func status(ready, degraded, reason string) inventory.Status {
	return inventory.Status{Desired: 5, Ready: 2, Failed: 1, Skipped: 1, Conflicted: 1, Conditions: []inventory.Condition{
		{Type: "Ready", Status: ready, Reason: "R", Message: "secret of acme"}, {Type: "Degraded", Status: degraded, Reason: reason},
	}}
}

// planned is a plan of a node that is wanted and of one that goes.
func planned(whole bool) *plan.Plan {
	node := func(key lynq.NodeKey, desired *plan.Node, s inventory.Status) plan.NodePlan {
		return plan.NodePlan{NodeID: lynq.NodeID{Hub: crm, Form: web, Namespace: key.Namespace, Name: key.Name}, Desired: desired, Inventory: recorded(key, s)}
	}
	return &plan.Plan{Hub: crm, Whole: whole, Nodes: []plan.NodePlan{
		node(acme, &plan.Node{}, status("True", "False", "")), node(ends, nil, status("False", "True", "Failed")),
	}}
}

// tell tells everything that there is.
func tell(m *metrics.Metrics) {
	m.Inputs(true)
	m.Read(crm, 3, 2, noon, nil)
	m.Read(crm, 0, 0, time.Time{}, errors.New("the password is hunter2"))
	m.Planned(planned(true), 70*time.Millisecond)
	m.Refused([]plan.Refusal{{Guard: plan.GuardMaxDelete, Hub: crm}})
	object := func(a plan.Action, o report.Outcome) {
		m.Report(report.Event{Type: report.EventObject, NodeID: idOf(crm, acme), Details: report.Details{Action: a, Outcome: o, Object: lynq.Ref{Kind: "Secret", Namespace: "shop", Name: "a"}}, Conflict: lynq.ConflictStuck})
	}
	m.Report(report.Event{Type: report.EventNodeStart, Time: noon, NodeID: idOf(crm, acme)})
	object(plan.ActionCreate, report.OutcomeDone)
	object(plan.ActionUpdate, report.OutcomeNotReady)
	object(plan.ActionUpdate, report.OutcomeFailed)
	object(plan.ActionUpdate, report.OutcomeConflicted)
	object(plan.ActionBlock, report.OutcomeConflicted)
	object(plan.ActionDelete, report.OutcomeDone)
	m.Report(report.Event{Type: report.EventNode, Time: noon.Add(3 * time.Second), NodeID: idOf(crm, acme), Details: report.Details{Outcome: report.OutcomeFailed}})
	m.Report(report.Event{Type: report.EventSummary, Time: noon.Add(4 * time.Second), Summary: &report.Summary{Hubs: []lynq.HubKey{crm}, Elapsed: 4 * time.Second}})
	m.Answered("patch", 409)
	m.Answered("list", 0)
	m.Tombstones(crm, stones())
	m.Leading(crm, true)
	m.BackOff(crm, 4)
	m.Fight(crm)
	m.LogDropped(7)
	m.Held(crm, []plan.Guard{plan.GuardMaxDelete})
}

func stones() []plan.Tombstone {
	stone := func(name string) plan.Tombstone {
		return plan.Tombstone{Tombstone: lynq.Tombstone{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}, Labels: map[string]string{"app": "old"}}, Live: &tracking.Live{Few: &tracking.Rare{Labels: map[string]string{"app": "old"}}}}
	}
	there, gone, unknown, other, unserved := stone("there"), stone("gone"), stone("unknown"), stone("other"), stone("unserved")
	gone.Live = nil
	unknown.Live, unknown.Unknown = nil, errors.New("403")
	other.Live.Few = nil
	unserved.Live, unserved.Unserved = nil, true
	return []plan.Tombstone{there, gone, unknown, other, unserved}
}

// TestAll: every name has a series once everything has happened, with the labels of the
// contract and the operator.
func TestAll(t *testing.T) {
	m := newMetrics(t, metrics.Options{Version: "v1"})
	tell(m)
	has(t, m,
		`lynqctl_build_info{version="v1"} 1`,
		`lynqctl_inputs_last_load_successful 1`,
		`lynqctl_source_rows{hub="crm",namespace="shop"} 3`,
		`lynqctl_source_rows_active{hub="crm",namespace="shop"} 2`,
		`lynqctl_source_last_success_timestamp_seconds{hub="crm",namespace="shop"} 1.7723664005e+09`,
		`lynqctl_source_reads_total{hub="crm",namespace="shop",result="success"} 1`,
		`lynqctl_source_reads_total{hub="crm",namespace="shop",result="error"} 1`,
		`lynqctl_plan_duration_seconds_bucket{hub="crm",namespace="shop",le="0.05"} 0`,
		`lynqctl_plan_duration_seconds_bucket{hub="crm",namespace="shop",le="0.1"} 1`,
		`lynqctl_run_duration_seconds_sum{hub="crm",namespace="shop",result="success"} 4`,
		`lynqctl_run_last_success_timestamp_seconds{hub="crm",namespace="shop"} 1.7723664045e+09`,
		`lynqctl_refusals_total{guard="max-delete",hub="crm",namespace="shop"} 1`,
		`lynqctl_held_deletions{guard="max-delete",hub="crm",namespace="shop"} 1`,
		`lynqctl_nodes_backing_off{hub="crm",namespace="shop"} 4`,
		`lynqctl_fights_total{hub="crm",namespace="shop"} 1`,
		`lynqctl_leading{hub="crm",namespace="shop"} 1`,
		`lynqctl_log_lines_dropped_total 7`,
		`lynqctl_api_requests_total{code="409",verb="patch"} 1`,
		`lynqctl_api_requests_total{code="<error>",verb="list"} 1`,
		`lynqctl_tombstone_status{kind="ConfigMap",name="there",namespace="shop"} 1`,
		`lynqctl_tombstone_status{kind="ConfigMap",name="gone",namespace="shop"} 0`,
		`lynqctl_tombstone_status{kind="ConfigMap",name="unserved",namespace="shop"} 0`,
		`lynqctl_tombstone_status{kind="ConfigMap",name="unknown",namespace="shop"} -1`,
		`lynqctl_tombstone_status{kind="ConfigMap",name="other",namespace="shop"} -2`,
		`lynqnode_reconcile_duration_seconds_sum{result="error"} 3`,
		`apply_attempts_total{conflict_policy="Stuck",kind="Secret",result="success"} 2`,
		`apply_attempts_total{conflict_policy="Stuck",kind="Secret",result="error"} 2`,
		`lynqnode_conflicts_total{conflict_policy="Stuck",form="web",hub="crm",namespace="shop",resource_kind="Secret"} 2`,
		`hub_desired{hub="crm",namespace="shop"} 1`,
		`hub_ready{hub="crm",namespace="shop"} 0`, // the last run failed, whatever is recorded
		`hub_failed{hub="crm",namespace="shop"} 1`,
		`lynqctl_node_conditions{form="web",hub="crm",namespace="shop",status="True",type="Ready"} 1`,
		`lynqctl_node_conditions{form="web",hub="crm",namespace="shop",status="False",type="Ready"} 1`,
		`lynqnode_resources_desired{form="web",hub="crm",namespace="shop"} 10`,
		`lynqnode_resources_ready{form="web",hub="crm",namespace="shop"} 4`,
		`lynqnode_resources_failed{form="web",hub="crm",namespace="shop"} 2`,
		`lynqnode_resources_skipped{form="web",hub="crm",namespace="shop"} 2`,
		`lynqnode_resources_conflicted{form="web",hub="crm",namespace="shop"} 2`,
		`lynqnode_degraded_status{form="web",hub="crm",namespace="shop",reason="Failed"} 1`,
		"!lynqnode_condition_status", "!process_", "!go_",
	)
	text := exposed(t, m)
	for _, secret := range []string{"hunter2", "secret of acme", "acme"} {
		t.Run(secret, func(t *testing.T) {
			if strings.Contains(text, secret) {
				t.Errorf("there is %q in\n%s", secret, text)
			}
		})
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestPerNode: a series for each node has the operator's labels; those of hubs stay.
func TestPerNode(t *testing.T) {
	m := newMetrics(t, metrics.Options{PerNode: true, Process: true})
	tell(m)
	has(t, m,
		`lynqnode_resources_desired{lynqnode="acme-web",namespace="shop"} 5`,
		`lynqnode_resources_ready{lynqnode="old-web",namespace="shop"} 2`,
		`lynqnode_condition_status{lynqnode="acme-web",namespace="shop",type="Ready"} 1`,
		`lynqnode_condition_status{lynqnode="old-web",namespace="shop",type="Ready"} 0`,
		`lynqnode_degraded_status{lynqnode="old-web",namespace="shop",reason="Failed"} 1`,
		`!lynqnode_degraded_status{lynqnode="acme-web"`,
		`lynqnode_conflicts_total{conflict_policy="Stuck",lynqnode="acme-web",namespace="shop",resource_kind="Secret"} 2`,
		`hub_desired{hub="crm",namespace="shop"} 1`,
		`lynqctl_node_conditions{form="web",hub="crm",namespace="shop",status="True",type="Ready"} 1`,
	)
	if text := exposed(t, m); !strings.Contains(text, "\nprocess_") || !strings.Contains(text, "\ngo_goroutines") {
		t.Error("there is nothing of the process")
	}
}

// TestNodesComeAndGo: records count as they were saved last, what is gone has no series,
// and a plan of the whole hub starts over.
func TestNodesComeAndGo(t *testing.T) {
	m := newMetrics(t, metrics.Options{PerNode: true})
	m.Planned(planned(true), 0)
	s := status("Unknown", "True", "Conflict")
	s.Ready = 4
	m.Recorded(recorded(acme, s), false)
	m.Recorded(recorded(ends, s), true)
	has(t, m,
		`lynqnode_resources_ready{lynqnode="acme-web",namespace="shop"} 4`,
		`lynqnode_condition_status{lynqnode="acme-web",namespace="shop",type="Ready"} 2`,
		`lynqnode_degraded_status{lynqnode="acme-web",namespace="shop",reason="Conflict"} 1`,
		`hub_ready{hub="crm",namespace="shop"} 0`, `hub_failed{hub="crm",namespace="shop"} 1`,
		`!lynqnode_resources_ready{lynqnode="old-web"`,
	)
	m.Planned(&plan.Plan{Hub: crm, Gone: []lynq.NodeKey{acme}}, 0)
	has(t, m, "!lynqnode_", `hub_desired{hub="crm",namespace="shop"} 0`, `hub_failed{hub="crm",namespace="shop"} 0`)
	m.Planned(planned(true), 0)
	m.Planned(&plan.Plan{Hub: crm, Whole: true}, 0)
	has(t, m, "!lynqnode_", `hub_desired{hub="crm",namespace="shop"} 0`)
	m.Planned(&plan.Plan{Hub: crm, After: true, Nodes: planned(false).Nodes}, 0) // tombstones have no nodes
	has(t, m, "!lynqnode_resources_ready")
}

// TestNarrowed: who looked at some nodes of a hub knows no sum.
func TestNarrowed(t *testing.T) {
	m := newMetrics(t, metrics.Options{})
	m.Planned(planned(false), 0)
	has(t, m, "!hub_", "!lynqnode_", "!lynqctl_node_conditions")
	m = newMetrics(t, metrics.Options{PerNode: true})
	m.Planned(planned(false), 0)
	has(t, m, "!hub_", `lynqnode_resources_ready{lynqnode="acme-web",namespace="shop"} 2`)
}

// TestTombstonesEnded: what a run did with the objects of tombstones.
func TestTombstonesEnded(t *testing.T) {
	m := newMetrics(t, metrics.Options{})
	m.Tombstones(crm, stones())
	told := func(name string, o report.Outcome) {
		m.Report(report.Event{Type: report.EventObject, NodeID: lynq.NodeID{Hub: crm}, Details: report.Details{Action: plan.ActionDelete, Reason: plan.ReasonTombstone, Outcome: o, Object: lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}}})
	}
	told("there", report.OutcomeDone)
	told("gone", report.OutcomeNotReady)
	told("other", report.OutcomeSkipped)
	told("never-named", report.OutcomeDone)
	has(t, m,
		`lynqctl_tombstone_status{kind="ConfigMap",name="there",namespace="shop"} 0`,
		`lynqctl_tombstone_status{kind="ConfigMap",name="gone",namespace="shop"} -1`,
		`lynqctl_tombstone_status{kind="ConfigMap",name="other",namespace="shop"} -2`,
		`!lynqctl_tombstone_status{kind="ConfigMap",name="never-named"`,
	)
	m.Tombstones(crm, nil)
	has(t, m, "!lynqctl_tombstone_status")
}

// TestStandby: what another process keeps is that one's to tell.
func TestStandby(t *testing.T) {
	m := newMetrics(t, metrics.Options{})
	tell(m)
	m.Leading(crm, false)
	has(t, m, `lynqctl_leading{hub="crm",namespace="shop"} 0`, "!hub_", "!lynqnode_resources", "!lynqctl_source_rows", "!lynqctl_tombstone_status",
		"!lynqctl_held_deletions", "!lynqctl_nodes_backing_off", "!lynqctl_source_last_success", "!lynqctl_run_last_success")
	m.Left(crm)
	has(t, m, "!lynqctl_leading", `lynqctl_fights_total{hub="crm",namespace="shop"} 1`)
}

// TestLeading: what may happen to a hub that is kept is counted from 0.
func TestLeading(t *testing.T) {
	m := newMetrics(t, metrics.Options{})
	m.Leading(crm, true)
	has(t, m, `lynqctl_leading{hub="crm",namespace="shop"} 1`, `lynqctl_fights_total{hub="crm",namespace="shop"} 0`,
		`lynqctl_source_reads_total{hub="crm",namespace="shop",result="error"} 0`)
	m.Fight(crm)
	m.Leading(crm, true)
	has(t, m, `lynqctl_fights_total{hub="crm",namespace="shop"} 1`)
}

// lacks checks that texts are nowhere in what is exposed.
func lacks(t *testing.T, m *metrics.Metrics, texts ...string) {
	t.Helper()
	all := exposed(t, m)
	for _, text := range texts {
		if strings.Contains(all, text) {
			t.Errorf("there is %s in\n%s", text, all)
		}
	}
}

// TestGone wants no series of a node or hub that is gone, whichever way it went.
func TestGone(t *testing.T) {
	key := lynq.NodeKey{Namespace: "shop", Name: "bolt-web"}
	id := idOf(crm, key)
	of := func(whole bool, gone ...lynq.NodeKey) *plan.Plan {
		p := &plan.Plan{Hub: crm, Whole: whole, Gone: gone, Nodes: []plan.NodePlan{{NodeID: idOf(crm, acme), Desired: &plan.Node{}}}}
		if len(gone) == 0 {
			p.Nodes = append(p.Nodes, plan.NodePlan{NodeID: id, Desired: &plan.Node{}})
		}
		return p
	}
	const series, kept = `lynqnode_conflicts_total{conflict_policy="Stuck",lynqnode="bolt-web",namespace="shop",resource_kind="Secret"} 1`, `lynqnode_conflicts_total{conflict_policy="Stuck",lynqnode="acme-web",namespace="shop",resource_kind="Secret"} 1`
	for name, goes := range map[string]func(*metrics.Metrics){
		"its inventory is deleted": func(m *metrics.Metrics) { m.Recorded(&inventory.Inventory{Node: id}, true) },
		"a plan of some nodes":     func(m *metrics.Metrics) { m.Planned(of(false, key), 0) },
		"a plan of all nodes": func(m *metrics.Metrics) {
			p := of(true)
			p.Nodes = p.Nodes[:1]
			m.Planned(p, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMetrics(t, metrics.Options{PerNode: true})
			m.Leading(crm, true)
			m.Planned(of(true), 0)
			m.Refused([]plan.Refusal{{Hub: crm, Guard: plan.GuardMaxDelete}})
			for _, n := range []lynq.NodeKey{acme, key} {
				m.Report(report.Event{Type: report.EventObject, NodeID: idOf(crm, n), Details: report.Details{Outcome: report.OutcomeConflicted, Object: lynq.Ref{Kind: "Secret", Namespace: "shop", Name: "a"}}, Conflict: lynq.ConflictStuck})
			}
			has(t, m, series, kept)
			goes(m)
			has(t, m, kept)
			lacks(t, m, `"bolt-web"`)
			m.Kept([]lynq.HubKey{{Namespace: "shop", Name: "erp"}})
			m.Left(crm)
			lacks(t, m, `hub="crm"`, `lynqnode="`)
		})
	}
}

func TestHeld(t *testing.T) {
	m := newMetrics(t, metrics.Options{})
	m.Held(crm, []plan.Guard{plan.GuardMaxDelete, plan.GuardEmpty})
	m.Held(crm, []plan.Guard{plan.GuardEmpty})
	has(t, m, `lynqctl_held_deletions{guard="allow-empty",hub="crm",namespace="shop"} 1`, `!lynqctl_held_deletions{guard="max-delete"`)
	m.Held(crm, nil)
	has(t, m, "!lynqctl_held_deletions")
}

// TestInterrupted: what an interruption ended is no failure of a node, and no success of
// the run; what a server tried is no run.
func TestInterrupted(t *testing.T) {
	m := newMetrics(t, metrics.Options{})
	m.Report(report.Event{Type: report.EventNodeStart, Time: noon, NodeID: idOf(crm, acme)})
	m.Report(report.Event{Type: report.EventNode, Time: noon, NodeID: idOf(crm, acme), Details: report.Details{Outcome: report.OutcomeInterrupted}})
	sum := report.Summary{Hubs: []lynq.HubKey{crm}, Interrupted: true}
	m.Report(report.Event{Type: report.EventSummary, Time: noon, Summary: &sum})
	has(t, m, "!lynqnode_reconcile", `lynqctl_run_duration_seconds_count{hub="crm",namespace="shop",result="interrupted"} 1`, "!lynqctl_run_last_success")
	m = newMetrics(t, metrics.Options{})
	m.Report(report.Event{Type: report.EventSummary, Time: noon, Summary: &report.Summary{Hubs: []lynq.HubKey{crm}, DryRun: true}})
	has(t, m, "!lynqctl_run_")
}

// TestFailedRun: a run failed for the hubs of the nodes that failed.
func TestFailedRun(t *testing.T) {
	m := newMetrics(t, metrics.Options{})
	other := lynq.HubKey{Namespace: "shop", Name: "erp"}
	m.Report(report.Event{Type: report.EventSummary, Time: noon, Summary: &report.Summary{Hubs: []lynq.HubKey{crm, other}, Failed: []report.NodeResult{{NodeID: idOf(crm, acme)}}}})
	has(t, m, `lynqctl_run_duration_seconds_count{hub="crm",namespace="shop",result="error"} 1`, `lynqctl_run_duration_seconds_count{hub="erp",namespace="shop",result="success"} 1`,
		`!lynqctl_run_last_success_timestamp_seconds{hub="crm"`)
}

// TestHostile: whatever texts come, nothing panics, and what is exposed can be read.
func TestHostile(t *testing.T) {
	for _, text := range []string{"a\nb 1", `a"b`, `a\`, "a\xffb", "\x00", strings.Repeat("é", 1<<16), "", `"} 1` + "\n# HELP x"} {
		t.Run(text, func(t *testing.T) {
			for _, perNode := range []bool{false, true} {
				m := newMetrics(t, metrics.Options{PerNode: perNode, Version: text})
				hub := lynq.HubKey{Namespace: text, Name: text}
				ref := lynq.Ref{Kind: text, Namespace: text, Name: text}
				key := lynq.NodeKey{Namespace: text, Name: text}
				m.Read(hub, 1, 1, noon, nil)
				inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: text, Name: text}, Namespace: text, Name: text}, Status: inventory.Status{Conditions: []inventory.Condition{{Type: text, Status: text, Reason: text}, {Type: "Degraded", Status: "True", Reason: text}}}}
				m.Planned(&plan.Plan{Hub: hub, Whole: true, Nodes: []plan.NodePlan{{NodeID: lynq.NodeID{Form: lynq.FormKey{Name: text}, Namespace: key.Namespace, Name: key.Name}, Desired: &plan.Node{}, Inventory: inv}}}, 0)
				m.Recorded(inv, false)
				m.Refused([]plan.Refusal{{Guard: plan.Guard(text), Hub: hub}})
				m.Answered(text, -1)
				m.Tombstones(hub, []plan.Tombstone{{Tombstone: lynq.Tombstone{Ref: ref}}})
				m.Held(hub, []plan.Guard{plan.Guard(text)})
				m.Report(report.Event{Type: report.EventObject, NodeID: idOf(hub, key), Details: report.Details{Object: ref, Action: plan.ActionUpdate, Outcome: report.OutcomeConflicted}, Conflict: lynq.ConflictPolicy(text)})
				parser := expfmt.NewTextParser(model.LegacyValidation)
				families, err := parser.TextToMetricFamilies(strings.NewReader(exposed(t, m)))
				if err != nil {
					t.Errorf("%.20q: %v", text, err)
				}
				want := strings.ToValidUTF8(text, "\uFFFD")
				if got := families["lynqctl_source_rows"].GetMetric(); len(got) != 1 || got[0].GetLabel()[0].GetValue() != want {
					t.Errorf("%.20q: %v", text, got)
				}
				m.Leading(hub, false)
				has(t, m, "!lynqctl_tombstone_status", "!lynqctl_source_rows", "!lynqctl_held_deletions", "!lynqnode_resources")
			}
		})
	}
}

func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	if err := metrics.CheckFile(filepath.Join(dir, "a.prom")); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("there is %v (%v)", entries, err)
	}
	for path, says := range map[string]string{
		dir: "is no file", filepath.Join(dir, "missing", "a.prom"): "directory that exists",
	} {
		t.Run(path, func(t *testing.T) {
			if err := metrics.CheckFile(path); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want %q", path, err, says)
			}
		})
	}
}

// TestWriteFile: one file, and when things last went well is kept by runs that fail.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.prom")
	write := func(m *metrics.Metrics, unreadable bool) string {
		t.Helper()
		unread, err := m.WriteFile(path)
		if err != nil || (unread != nil) != unreadable {
			t.Fatalf("%v, %v", unread, err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("there is %v (%v)", entries, err)
		}
		return string(text)
	}
	m := newMetrics(t, metrics.Options{})
	tell(m)
	if got := write(m, false); got != exposed(t, m) {
		t.Errorf("the file has\n%s", got)
	}
	failed := newMetrics(t, metrics.Options{})
	failed.Read(crm, 0, 0, time.Time{}, errors.New("no"))
	text := write(failed, false)
	for _, kept := range []string{`lynqctl_source_last_success_timestamp_seconds{hub="crm",namespace="shop"} 1.7723664005e+09`, `lynqctl_run_last_success_timestamp_seconds{hub="crm",namespace="shop"} 1.7723664045e+09`} {
		t.Run(kept, func(t *testing.T) {
			if !strings.Contains(text, kept+"\n") {
				t.Errorf("there is no %s in\n%s", kept, text)
			}
		})
	}
	if strings.Contains(text, "lynqctl_source_rows{") {
		t.Errorf("rows are not what was kept:\n%s", text)
	}
	again := newMetrics(t, metrics.Options{})
	again.Read(crm, 1, 1, noon.Add(time.Hour), nil)
	if text := write(again, false); !strings.Contains(text, `last_success_timestamp_seconds{hub="crm",namespace="shop"} 1.7723700005e+09`) {
		t.Errorf("the older read is there:\n%s", text)
	}
	if err := os.WriteFile(path, []byte("{{{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := write(again, true); !bytes.Contains([]byte(text), []byte("lynqctl_source_rows{")) {
		t.Error(text)
	}
}
